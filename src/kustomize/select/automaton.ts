import type { CharacterSet } from './character-set.ts'
import { PatternError } from './pattern-error.ts'
import { type Assertion, isNullable, type PatternPart, type Repetition } from './pattern-part.ts'

/** A state of the automaton of a regular expression. */
export type State =
  | { readonly kind: 'char'; readonly accepts: CharacterSet; readonly next: State }
  | { readonly kind: 'split'; next: readonly State[] }
  | { readonly kind: 'assert'; readonly holds: Assertion; readonly next: State }
  /** Only where captures are asked for: the start (even) or the end of a group. */
  | { readonly kind: 'save'; readonly slot: number; readonly next: State }
  | { readonly kind: 'end' }

const MAX_STATES = 2_100

/**
 * The automaton of a regular expression, which prefers ways as Go does. `captures`: with states that save where groups begin and end.
 * Throws PatternError where it would have too many states.
 */
export function automatonOf(part: PatternPart, captures = false): State {
  return new Builder(captures).build(part, { kind: 'end' })
}

class Builder {
  private states = 0
  private readonly captures: boolean

  constructor(captures: boolean) {
    this.captures = captures
  }

  /** What matches `part` and then goes on with `next`. */
  build(part: PatternPart, next: State): State {
    if (part.kind === 'sequence') return part.parts.reduceRight((rest, inner) => this.build(inner, rest), next)
    if (part.kind === 'repeat') return this.repetition(part, next)
    if (part.kind === 'group') return this.group(part.index, part.part, next)
    this.count()
    if (part.kind === 'choice') return { kind: 'split', next: part.parts.map(inner => this.build(inner, next)) }
    if (part.kind === 'char') return { kind: 'char', accepts: part.accepts, next }
    return { kind: 'assert', holds: part.holds, next }
  }

  private group(index: number, part: PatternPart, next: State): State {
    if (!this.captures) return this.build(part, next)
    this.count()
    this.count()
    const end: State = { kind: 'save', slot: 2 * index + 1, next }
    return { kind: 'save', slot: 2 * index, next: this.build(part, end) }
  }

  private repetition({ part, least, most, lazy }: Repetition, next: State): State {
    const either = (more: State, rest: State) => (lazy ? [rest, more] : [more, rest])
    let state = most === undefined ? this.star(part, next, least > 0, either) : next
    for (let index = least; index < (most ?? least); index++) {
      this.count()
      state = { kind: 'split', next: either(this.build(part, state), next) }
    }
    // the loop without end has one of them in it
    for (let index = most === undefined ? 1 : 0; index < least; index++) {
      this.count()
      state = this.build(part, state)
    }
    return state
  }

  private star(
    part: PatternPart,
    next: State,
    atLeastOne: boolean,
    either: (more: State, rest: State) => readonly State[],
  ): State {
    this.count()
    const loop: State = { kind: 'split', next: [] }
    const inner = this.build(part, loop)
    loop.next = either(inner, next)
    if (atLeastOne) return inner
    // as in Go, a part that may match nothing is entered once before the loop decides
    return isNullable(part) ? { kind: 'split', next: either(inner, next) } : loop
  }

  private count(): void {
    if (++this.states > MAX_STATES) throw new PatternError('too many parts', false)
  }
}
