import { createHash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import type { Hole } from '../kube/hole.ts'
import type { Part, Tolerance } from '../kustomize/tolerance.ts'
import { isFatal, isOfPart } from './is-fatal.ts'

/** Parts that one build may do without. */
export const MAX_HOLES = 100

/** Takes out what fails, and notes it. */
export class Leniency implements Tolerance {
  readonly isLenient = true
  readonly enough = MAX_HOLES + 1
  private readonly found = new Map<string, Hole>()

  get holes(): readonly Hole[] {
    return [...this.found.values()]
  }

  takesOut(error: unknown): error is BailiwickError {
    return error instanceof BailiwickError && isOfPart(error)
  }

  failureOf(step: () => void): BailiwickError | undefined {
    try {
      step()
      return undefined
    } catch (error) {
      if (this.takesOut(error)) return error
      throw error
    }
  }

  attempt<T>(part: Part, step: () => T): T | undefined {
    const before = this.found.size
    const undo = part.changes?.save()
    try {
      return step()
    } catch (error) {
      if (!this.takesOut(error)) throw error
      undo?.()
      // what failed within it is no part of the build any more
      for (const key of [...this.found.keys()].slice(before)) this.found.delete(key)
      this.add(error, part)
      return undefined
    }
  }

  /** Notes an error of the strict build that no hole stands for. */
  cover(error: BailiwickError, hides: () => string): void {
    const isKnown = this.holes.some(hole => nameOf(hole.error) === nameOf(error))
    if (!isKnown) this.add(error, { effect: 'different', hides })
  }

  /** The first address, where all that is missing although Flux has it is remote: what depends on it is there. */
  private onlyRemote(): string | undefined {
    const missing = this.holes.filter(hole => !hole.fatal)
    return missing.every(hole => hole.remote !== undefined) ? missing[0]?.remote : undefined
  }

  private add(error: BailiwickError, { effect, hides, depends }: Part): void {
    // where something is missing that Flux has, it may well find what this part needs
    const mayFit = depends && error.code === 'kustomize-invalid' && this.holes.some(hole => !hole.fatal)
    const fatal = isFatal(error) && !mayFit
    const digest = createHash('sha256').update(hides()).digest('hex')
    const address = error.remote ?? (mayFit ? this.onlyRemote() : undefined)
    const remote = address === undefined ? {} : { remote: address }
    const key = JSON.stringify([nameOf(error), effect, digest])
    if (!this.found.has(key)) this.found.set(key, { error, fatal, effect, hides: digest, ...remote })
    if (this.found.size <= MAX_HOLES) return
    const { origin } = error
    throw new BailiwickError('render-limits', `more than ${MAX_HOLES} parts that cannot be built`, { origin })
  }
}

function nameOf({ code, message, origin }: BailiwickError): string {
  return JSON.stringify([code, message, origin?.file, origin?.line])
}
