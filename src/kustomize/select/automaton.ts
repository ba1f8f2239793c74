import type { CharacterSet } from './character-set.ts'
import { PatternError } from './pattern-error.ts'
import type { Assertion, PatternPart, Repetition } from './pattern-part.ts'

/** A state of the automaton of a regular expression. */
export type State =
  | { readonly kind: 'char'; readonly accepts: CharacterSet; readonly next: State }
  | { readonly kind: 'split'; next: readonly State[] }
  | { readonly kind: 'assert'; readonly holds: Assertion; readonly next: State }
  | { readonly kind: 'end' }

const MAX_STATES = 2_100

/** The automaton of a regular expression. Throws PatternError where it would have too many states. */
export function automatonOf(part: PatternPart): State {
  return new Builder().build(part, { kind: 'end' })
}

class Builder {
  private states = 0

  /** What matches `part` and then goes on with `next`. */
  build(part: PatternPart, next: State): State {
    if (part.kind === 'sequence') return part.parts.reduceRight((rest, inner) => this.build(inner, rest), next)
    if (part.kind === 'repeat') return this.repetition(part, next)
    this.count()
    if (part.kind === 'choice') return { kind: 'split', next: part.parts.map(inner => this.build(inner, next)) }
    if (part.kind === 'char') return { kind: 'char', accepts: part.accepts, next }
    return { kind: 'assert', holds: part.holds, next }
  }

  private repetition({ part, least, most }: Repetition, next: State): State {
    let state = most === undefined ? this.star(part, next, least > 0) : next
    for (let index = least; index < (most ?? least); index++) {
      this.count()
      state = { kind: 'split', next: [this.build(part, state), next] }
    }
    // the loop without end has one of them in it
    for (let index = most === undefined ? 1 : 0; index < least; index++) {
      this.count()
      state = this.build(part, state)
    }
    return state
  }

  private star(part: PatternPart, next: State, atLeastOne: boolean): State {
    this.count()
    const loop: State = { kind: 'split', next: [] }
    const inner = this.build(part, loop)
    loop.next = [inner, next]
    return atLeastOne ? inner : loop
  }

  private count(): void {
    if (++this.states > MAX_STATES) throw new PatternError('too many parts', false)
  }
}
