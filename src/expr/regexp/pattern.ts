import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { parsePattern } from './parse-pattern.ts'
import {
  type Assertion,
  type CharacterSet,
  isNullable,
  isStart,
  PatternError,
  type PatternPart,
  type Repetition,
} from './pattern-part.ts'

/** A regular expression and where it stands. */
interface WrittenPattern {
  readonly text: string
  readonly origin: Origin
}

/** Takes the work of matching; throws `render-limits` for too much. */
export interface StepBudget {
  spend(what: 'steps', amount: number, origin: Origin): void
}

const cache = new Map<string, State>()

/** Most patterns are a name. */
const LITERAL = /^[A-Za-z0-9_-]+$/

/**
 * Whether the regular expression of a patch target matches all of `text`; kustomize puts it between `^(?:` and `)$`.
 * Runs in linear time on any pattern. Throws `kustomize-invalid` for what Go's regexp refuses, `kustomize-unsupported`
 * for the little that may differ between its releases, and for very large patterns, `render-limits` for much work.
 */
export function matchesPattern(pattern: WrittenPattern, text: string, budget: StepBudget): boolean {
  if (LITERAL.test(pattern.text)) return pattern.text === text
  return isFound(compile(pattern, true), text, visits => charge(budget, visits, pattern))
}

/** Whether a part of `text` matches, as Go's MatchString would say. Otherwise as `matchesPattern`. */
export function containsPattern(pattern: WrittenPattern, text: string, budget: StepBudget): boolean {
  return isFound(compile(pattern, false), text, visits => charge(budget, visits, pattern))
}

/** Throws what matching with this pattern would throw. */
export function checkPattern(pattern: WrittenPattern): void {
  if (!LITERAL.test(pattern.text)) compile(pattern, true)
}

function compile(pattern: WrittenPattern, whole: boolean): State {
  const text = whole ? `^(?:${pattern.text})$` : pattern.text
  const known = cache.get(text)
  if (known) return known
  const start = automaton(pattern, text)
  if (cache.size > 1_000) cache.clear()
  cache.set(text, start)
  return start
}

function automaton(pattern: WrittenPattern, text: string): State {
  try {
    return automatonOf(parsePattern(text))
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    const named = `regular expression ${JSON.stringify(pattern.text.slice(0, 100))}: contains ${error.message}`
    const { origin } = pattern
    if (error.invalid) throw new BailiwickError('kustomize-invalid', named, { origin })
    throw new BailiwickError('kustomize-unsupported', `${named}, which is not supported`, { origin })
  }
}

/** What any pattern costs for a name; every entry that has one pays for each object anyway. */
const FREE_VISITS = 200
const VISITS_PER_STEP = 10

function charge(budget: StepBudget, visits: number, { origin }: WrittenPattern): void {
  if (visits > FREE_VISITS) budget.spend('steps', Math.ceil((visits - FREE_VISITS) / VISITS_PER_STEP), origin)
}

/** `charge` gets the number of visited states, from time to time and at the end. */
function isFound(start: State, text: string, charge: (visits: number) => void): boolean {
  let visits = 0
  try {
    return walk(start, text, count => {
      visits += count
      if (visits < 1_000_000) return
      charge(visits)
      visits = 0
    })
  } finally {
    charge(visits)
  }
}

function walk(start: State, text: string, visited: (count: number) => void): boolean {
  const anchored = start.kind === 'assert' && start.holds === isStart
  let after = charAt(text, 0)
  let states = closure([start], undefined, after)
  for (let index = 0; after !== undefined; ) {
    visited(states.length)
    if (states.some(state => state.kind === 'end')) return true
    const char: string = after
    index += char.length
    after = charAt(text, index)
    const next = states.flatMap(state => (state.kind === 'char' && state.accepts(char) ? [state.next] : []))
    if (!anchored) next.push(start)
    else if (next.length === 0) return false
    states = closure(next, char, after)
  }
  return states.some(state => state.kind === 'end')
}

function charAt(text: string, index: number): string | undefined {
  const code = text.codePointAt(index)
  return code === undefined ? undefined : String.fromCodePoint(code)
}

/** All states that are reached without a character, between two characters. */
function closure(states: readonly State[], before: string | undefined, after: string | undefined): State[] {
  const seen = new Set<State>()
  const stack = [...states]
  for (let state = stack.pop(); state; state = stack.pop()) {
    if (seen.has(state)) continue
    seen.add(state)
    if (state.kind === 'split') stack.push(...state.next)
    else if (state.kind === 'assert' && state.holds(before, after)) stack.push(state.next)
  }
  return [...seen]
}

/** How the texts that match one pattern relate to those that match another. */
type PatternRelation = 'within' | 'apart' | 'unknown'

/** A pattern of file names: `^`, a text, `.*`, an ending of YAML files and `$`, each of which may be missing. */
const SHAPE =
  /^(\^?)((?:[^.+*?()[\]{}|^$\\\n]|\\[.+*?()[\]{}|^$\\])*?)((?:\.\*)?)((?:\\?\.(?:yaml|ya\?ml|\((?:\?:)?(?:yaml\|yml|yml\|yaml)\)))?)(\$?)$/

function shapeOf(pattern: string) {
  const [all, start, text = '', rest, ending = '', end] = SHAPE.exec(pattern) ?? []
  if (all === undefined) return undefined
  const endsAs = ending === '' ? 'open' : ending.includes('yaml') && !/yml|\?m/.test(ending) ? 'yaml' : 'both'
  const hasDot = !ending.startsWith('.')
  return {
    isAnchored: start === '^',
    text: text.replace(/\\(.)/g, '$1'),
    hasAny: rest !== '',
    endsAs,
    hasDot,
    isWhole: end === '$',
  }
}

/**
 * Whether every text that matches `inner` also matches `outer` (`within`), or none matches both (`apart`). Known for the
 * same pattern, and for the files of a folder, `^FOLDER/.*\.yaml$`, against a pattern of the same kind or a shorter one.
 */
export function comparePatterns(inner: string, outer: string): PatternRelation {
  if (inner === outer) return 'within'
  const [one, other] = [shapeOf(inner), shapeOf(outer)]
  if (!one || !other || !one.isAnchored) return 'unknown'
  const isBelow = one.text.startsWith(other.text)
  if (other.isAnchored && !isBelow && !other.text.startsWith(one.text)) return 'apart'
  const isFound = other.isAnchored ? isBelow : one.text.includes(other.text)
  if (!isFound) return 'unknown'
  // what follows the text in `outer` is found behind it in every text of `inner`
  const isFolder = one.hasAny && one.isWhole
  if (other.endsAs === 'open') return !other.isWhole || (other.hasAny && isFolder) ? 'within' : 'unknown'
  const isOpen = other.hasAny || (other.text === '' && !other.isAnchored)
  const endsAlike = (one.endsAs === 'yaml' || one.endsAs === other.endsAs) && (one.hasDot || !other.hasDot)
  return isFolder && isOpen && endsAlike ? 'within' : 'unknown'
}

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
