import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'
import { automatonOf, type State } from './automaton.ts'
import { parsePattern } from './parse-pattern.ts'
import { PatternError } from './pattern-error.ts'
import { isStart } from './pattern-part.ts'

/** A regular expression and where it stands. */
export interface WrittenPattern {
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

/** `charge` is told of the states that were visited, from time to time and at the end. */
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
