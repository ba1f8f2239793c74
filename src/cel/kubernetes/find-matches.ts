import { automatonOf, type State } from '../../kustomize/select/automaton.ts'
import { parsePattern } from '../../kustomize/select/parse-pattern.ts'
import { PatternError } from '../../kustomize/select/pattern-error.ts'
import type { PatternPart } from '../../kustomize/select/pattern-part.ts'
import { CelError, CelUnknownError } from '../cel-error.ts'
import type { CountSteps } from '../function-library.ts'

/** A way through the automaton and where it began; ways are in the order in which Go prefers them. */
interface Thread {
  readonly state: State
  readonly from: number
  readonly saved: Saved | undefined
}

/** Where groups began and ended on a way, the last one first. */
interface Saved {
  readonly slot: number
  readonly at: number
  readonly before: Saved | undefined
}

/** The start and end of a match and of its groups; -1 for a group that took no part, as Go's FindAllStringSubmatchIndex. */
export type Submatch = readonly number[]

/**
 * What the regular expression finds in a text, as Go's FindAllString: the leftmost match, of those the one that is preferred
 * first, none inside of another. Linear in the text for each match.
 */
export function findMatches(pattern: string, text: string, limit: number, spend: CountSteps): string[] {
  const chars = [...text]
  return findRanges(pattern, chars, limit, spend).map(([from, to]) => chars.slice(from, to).join(''))
}

/** Like `findMatches`, but returns the start and end of each match. */
export function findRanges(
  pattern: string,
  chars: readonly string[],
  limit: number,
  spend: CountSteps,
): (readonly [from: number, to: number])[] {
  return search(automaton(parsed(pattern), false), chars, limit, spend).map(({ from, to }) => [from, to] as const)
}

/** The matches with their groups, and the number of groups. Otherwise like `findRanges`. */
export function findSubmatches(
  pattern: string,
  chars: readonly string[],
  limit: number,
  spend: CountSteps,
): { readonly groups: number; readonly matches: readonly Submatch[] } {
  const part = parsed(pattern)
  const groups = groupsOf(part)
  const matches = search(automaton(part, true), chars, limit, spend).map(({ from, to, saved }) => {
    const slots = new Array<number>(2 + 2 * groups).fill(-1)
    slots[0] = from
    slots[1] = to
    for (let one = saved; one; one = one.before) if (slots[one.slot] === -1) slots[one.slot] = one.at
    return slots
  })
  return { groups, matches }
}

interface Match {
  readonly from: number
  readonly to: number
  readonly saved: Saved | undefined
}

function search(start: State, chars: readonly string[], limit: number, spend: CountSteps): Match[] {
  const found: Match[] = []
  let lastEnd = -1
  for (let at = 0; at <= chars.length && found.length < limit; ) {
    const match = leftmost(start, chars, at, spend)
    if (!match) break
    const { from, to } = match
    // Go leaves out an empty match behind the one before
    if (to > from || from !== lastEnd) found.push(match)
    lastEnd = to
    at = to > from ? to : to + 1
  }
  return found
}

function groupsOf(part: PatternPart): number {
  if (part.kind === 'group') return 1 + groupsOf(part.part)
  if (part.kind === 'repeat') return groupsOf(part.part)
  return 'parts' in part ? part.parts.reduce((sum, one) => sum + groupsOf(one), 0) : 0
}

const parsed = (pattern: string): PatternPart => readable(() => parsePattern(pattern))
const automaton = (part: PatternPart, captures: boolean): State => readable(() => automatonOf(part, captures))

function readable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    if (error.invalid) throw new CelError(`Illegal regex: ${error.message}`)
    throw new CelUnknownError(`a regular expression contains ${error.message}, which is not supported`)
  }
}

function leftmost(start: State, chars: readonly string[], begin: number, spend: CountSteps): Match | undefined {
  let best: Match | undefined
  let threads: readonly Thread[] = []
  for (let at = begin; at <= chars.length; at++) {
    const waiting = best ? threads : [...threads, { state: start, from: at, saved: undefined }]
    const here = closure(waiting, at, chars)
    spend(here.length + 1)
    const next: Thread[] = []
    for (const { state, from, saved } of here) {
      if (state.kind === 'end') {
        best = { from, to: at, saved }
        break
      }
      if (state.kind === 'char' && at < chars.length && state.accepts(chars[at]!))
        next.push({ state: state.next, from, saved })
    }
    threads = next
    if (best && threads.length === 0) break
  }
  return best
}

/** Where the ways lead without a character, each state once, in order. */
function closure(threads: readonly Thread[], at: number, chars: readonly string[]): Thread[] {
  const seen = new Set<State>()
  const found: Thread[] = []
  const stack = [...threads].reverse()
  for (let thread = stack.pop(); thread; thread = stack.pop()) {
    const { state, from, saved } = thread
    if (seen.has(state)) continue
    seen.add(state)
    if (state.kind === 'split') stack.push(...[...state.next].reverse().map(next => ({ state: next, from, saved })))
    else if (state.kind === 'save')
      stack.push({ state: state.next, from, saved: { slot: state.slot, at, before: saved } })
    else if (state.kind === 'assert') {
      if (state.holds(chars[at - 1], chars[at])) stack.push({ state: state.next, from, saved })
    } else found.push(thread)
  }
  return found
}
