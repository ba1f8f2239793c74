import { automatonOf, type State } from '../../kustomize/select/automaton.ts'
import { parsePattern } from '../../kustomize/select/parse-pattern.ts'
import { PatternError } from '../../kustomize/select/pattern-error.ts'
import { CelError, CelUnknownError } from '../cel-error.ts'
import type { CountSteps } from '../function-library.ts'

/** A way through the automaton and where it began; ways are in the order in which Go prefers them. */
interface Thread {
  readonly state: State
  readonly from: number
}

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
  const start = automaton(pattern)
  const found: (readonly [number, number])[] = []
  let lastEnd = -1
  for (let at = 0; at <= chars.length && found.length < limit; ) {
    const match = leftmost(start, chars, at, spend)
    if (!match) break
    const [from, to] = match
    // Go leaves out an empty match behind the one before
    if (to > from || from !== lastEnd) found.push(match)
    lastEnd = to
    at = to > from ? to : to + 1
  }
  return found
}

function automaton(pattern: string): State {
  try {
    return automatonOf(parsePattern(pattern))
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    if (error.invalid) throw new CelError(`Illegal regex: ${error.message}`)
    throw new CelUnknownError(`a regular expression contains ${error.message}, which is not supported`)
  }
}

function leftmost(
  start: State,
  chars: readonly string[],
  begin: number,
  spend: CountSteps,
): [number, number] | undefined {
  let best: [number, number] | undefined
  let threads: readonly Thread[] = []
  for (let at = begin; at <= chars.length; at++) {
    const waiting = best ? threads : [...threads, { state: start, from: at }]
    const here = closure(waiting, chars[at - 1], chars[at])
    spend(here.length + 1)
    const next: Thread[] = []
    for (const { state, from } of here) {
      if (state.kind === 'end') {
        best = [from, at]
        break
      }
      if (state.kind === 'char' && at < chars.length && state.accepts(chars[at]!))
        next.push({ state: state.next, from })
    }
    threads = next
    if (best && threads.length === 0) break
  }
  return best
}

/** Where the ways lead without a character, each state once, in order. */
function closure(threads: readonly Thread[], before: string | undefined, after: string | undefined): Thread[] {
  const seen = new Set<State>()
  const found: Thread[] = []
  const stack = [...threads].reverse()
  for (let thread = stack.pop(); thread; thread = stack.pop()) {
    const { state, from } = thread
    if (seen.has(state)) continue
    seen.add(state)
    if (state.kind === 'split') stack.push(...[...state.next].reverse().map(next => ({ state: next, from })))
    else if (state.kind === 'assert') {
      if (state.holds(before, after)) stack.push({ state: state.next, from })
    } else found.push(thread)
  }
  return found
}
