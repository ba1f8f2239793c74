import { createHash } from 'node:crypto'
import { BailiwickError } from '../errors.ts'
import type { Hole } from '../kube/hole.ts'
import type { Level, Part, Tolerance } from '../kustomize/model/tolerance.ts'
import { isFatal, isOfPart } from './is-fatal.ts'

/** Parts that one build may do without. */
export const MAX_HOLES = 100

/** A hole while the build goes on: `around` are the levels that would change what it hides, each way up as one list. */
interface Found extends Hole {
  readonly around: (readonly Level[])[]
  readonly spreads: boolean
}

/** Takes out what fails, and notes it. */
export class Leniency implements Tolerance {
  readonly isLenient = true
  readonly enough = MAX_HOLES + 1
  private readonly found = new Map<string, Found>()
  private levels: readonly Level[] = []

  /** What was taken out, once the build is done. Throws `render-limits` where there is too much to look at. */
  holes(): readonly Hole[] {
    return [...this.found.values()].map(({ around, spreads, ...hole }) => {
      const text = spreads ? everything(around) : changes(around)
      return text === '' ? hole : { ...hole, hides: sha256(JSON.stringify([hole.hides, text])) }
    })
  }

  within<T>(level: Level, step: () => T): T {
    const before = this.levels
    this.levels = [...before, level]
    try {
      return step()
    } finally {
      this.levels = before
    }
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
      // what failed within it is not a part of the build any more
      for (const key of [...this.found.keys()].slice(before)) this.found.delete(key)
      this.add(error, part)
      return undefined
    }
  }

  /** Notes an error of the strict build that no hole stands for. */
  cover(error: BailiwickError, hides: () => string): void {
    const isKnown = this.all.some(hole => nameOf(hole.error) === nameOf(error))
    if (!isKnown) this.add(error, { effect: 'different', hides })
  }

  /** The first address, where all that is missing although Flux has it is remote: what depends on it is there. */
  private onlyRemote(): string | undefined {
    const missing = this.all.filter(hole => !hole.fatal)
    return missing.every(hole => hole.remote !== undefined) ? missing[0]?.remote : undefined
  }

  private get all(): readonly Found[] {
    return [...this.found.values()]
  }

  private add(error: BailiwickError, { effect, hides, depends, brings, spreads }: Part): void {
    // where something is missing that Flux has, it may well find what this part needs
    const mayFit = depends && error.code === 'kustomize-invalid' && this.all.some(hole => !hole.fatal)
    const fatal = isFatal(error) && !mayFit
    const digest = sha256(hides())
    const address = error.remote ?? (mayFit ? this.onlyRemote() : undefined)
    const remote = address === undefined ? {} : { remote: address }
    const key = JSON.stringify([nameOf(error), effect, digest])
    const hole = { error, fatal, effect, hides: digest, ...remote }
    const known: Found = this.found.get(key) ?? { ...hole, around: [], spreads: spreads === true }
    // nothing of what Flux refuses is applied, however it is changed
    if ((brings || spreads) && !fatal) known.around.push(this.levels)
    this.found.set(key, known)
    if (this.found.size <= MAX_HOLES) return
    const { origin } = error
    throw new BailiwickError('render-limits', `more than ${MAX_HOLES} parts of the build have errors`, { origin })
  }
}

/** What all levels on all ways up do to it. */
function changes(around: readonly (readonly Level[])[]): string {
  const ways = around.map(levels => levels.map(level => level.changes()).filter(text => text !== ''))
  const texts = [...new Set(ways.filter(way => way.length > 0).map(way => JSON.stringify(way)))].sort()
  return texts.length === 0 ? '' : JSON.stringify(texts)
}

function everything(around: readonly (readonly Level[])[]): string {
  const roots = new Set(around.flatMap(([root]) => root ?? []))
  return JSON.stringify([...roots].map(root => root.everything()))
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function nameOf({ code, message, origin }: BailiwickError): string {
  return JSON.stringify([code, message, origin?.file, origin?.line])
}
