import type { Entry } from '../model/entry.ts'
import type { State } from './automaton.ts'
import { closure, type StepBudget, searchingAutomaton } from './pattern.ts'

/** How the texts that match one pattern relate to those that match another; `unknown`: the limits were exceeded. */
type PatternRelation = 'within' | 'apart' | 'overlapping' | 'unknown'

/** A set of prefixes that the two patterns cannot distinguish. */
interface Reached {
  /** Undefined: the pattern has matched, whatever follows. */
  readonly inner: readonly State[] | undefined
  readonly outer: readonly State[] | undefined
  readonly before: string | undefined
}

/** Printable ASCII, a line break, and one character that no comparable pattern contains. */
const ALPHABET = [...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)), '\n', '\u{1F511}']
/** Patterns that are case-sensitive and treat all characters beyond ASCII alike. */
const PLAIN = /^(?!.*(?:\(\?[a-zA-Z]*i|\\[pPxQ]|\\[0-7]|\[\[:))[\x20-\x7e]*$/
const MAX_REACHED = 3_000

/**
 * Whether every text that matches `inner` also matches `outer` (`within`), no text matches both (`apart`), or some do
 * (`overlapping`). Runs both automata in parallel on all texts.
 */
export function comparePatterns(inner: Entry, outer: Entry, budget: StepBudget): PatternRelation {
  if (!PLAIN.test(inner.text) || !PLAIN.test(outer.text)) return 'unknown'
  const starts = { inner: searchingAutomaton(inner), outer: searchingAutomaton(outer) }
  const first: Reached = { inner: [starts.inner], outer: [starts.outer], before: undefined }
  const ids = new Map<State, number>()
  const seen = new Set([keyOf(first, ids)])
  const open = [first]
  let [isWithin, isApart] = [true, true]
  for (let here = open.pop(); here; here = open.pop()) {
    const [has, hasOuter] = [isAccepted(here.inner, here.before), isAccepted(here.outer, here.before)]
    if (has && hasOuter) isApart = false
    if (has && !hasOuter) isWithin = false
    if (!isWithin && !isApart) return 'overlapping'
    for (const char of ALPHABET) {
      budget.spend('steps', 1 + (here.inner?.length ?? 0) + (here.outer?.length ?? 0), inner.origin)
      const next: Reached = {
        inner: step(here.inner, here.before, char, starts.inner),
        outer: step(here.outer, here.before, char, starts.outer),
        before: char,
      }
      // from here on, `inner` can no longer match
      if (next.inner?.length === 0) continue
      const key = keyOf(next, ids)
      if (seen.has(key)) continue
      if (seen.size > MAX_REACHED) return 'unknown'
      seen.add(key)
      open.push(next)
    }
  }
  return isWithin ? 'within' : isApart ? 'apart' : 'overlapping'
}

const isEnd = (state: State) => state.kind === 'end'

const isAccepted = (states: readonly State[] | undefined, before: string | undefined): boolean =>
  states === undefined || closure(states, before, undefined).some(isEnd)

function step(
  states: readonly State[] | undefined,
  before: string | undefined,
  char: string,
  start: State,
): readonly State[] | undefined {
  if (states === undefined) return undefined
  const all = closure(states, before, char)
  if (all.some(isEnd)) return undefined
  const next = new Set(all.flatMap(state => (state.kind === 'char' && state.accepts(char) ? [state.next] : [])))
  // a search can start at every character, but a start anchor does not match there
  if (canBegin(start, char)) next.add(start)
  return [...next]
}

/** Whether a match can start after this character. */
const canBegin = (start: State, before: string): boolean =>
  start.kind !== 'assert' || start.holds(before, undefined) || start.holds(before, 'a') || start.holds(before, '/')

/** The relevant properties of the previous character: whether there is one, and whether it is a line break or a word character. */
function keyOf({ inner, outer, before }: Reached, ids: Map<State, number>): string {
  const id = (state: State) => ids.get(state) ?? ids.set(state, ids.size).get(state)!
  const of = (states: readonly State[] | undefined) =>
    states
      ?.map(id)
      .sort((a, b) => a - b)
      .join(',') ?? 'found'
  const kind = before === undefined ? '^' : before === '\n' ? 'n' : /\w/.test(before) ? 'w' : '.'
  return `${kind} ${of(inner)} ${of(outer)}`
}
