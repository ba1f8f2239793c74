import { BailiwickError } from '../../errors.ts'
import type { Entry } from '../kustomization.ts'
import { parsePattern, type State } from './parse-pattern.ts'

const cache = new Map<string, State>()

/** Most patterns are a name. */
const LITERAL = /^[A-Za-z0-9_-]+$/

/**
 * Whether the regular expression of a patch target matches all of `text`. Runs in linear time on any pattern; throws
 * `kustomize-unsupported` for syntax outside the common part of Go's and everybody's regular expressions.
 */
export function matchesPattern(pattern: Entry, text: string): boolean {
  if (LITERAL.test(pattern.text)) return pattern.text === text
  const start = compile(pattern)
  let states = closure([start], true, text.length === 0)
  for (let index = 0; index < text.length; ) {
    const char = String.fromCodePoint(text.codePointAt(index)!)
    index += char.length
    const next = states.flatMap(state => (state.kind === 'char' && state.accepts(char) ? [state.next] : []))
    states = closure(next, false, index === text.length)
    if (states.length === 0) return false
  }
  return states.some(state => state.kind === 'end')
}

/** Whether a part of `text` matches, as Go's MatchString would say. Otherwise as `matchesPattern`. */
export function containsPattern(pattern: Entry, text: string): boolean {
  const start = compile(pattern)
  let states = closure([start], true, text.length === 0)
  for (let index = 0; index < text.length; ) {
    if (states.some(state => state.kind === 'end')) return true
    const char = String.fromCodePoint(text.codePointAt(index)!)
    index += char.length
    const next = states.flatMap(state => (state.kind === 'char' && state.accepts(char) ? [state.next] : []))
    states = closure([...next, start], false, index === text.length)
  }
  return states.some(state => state.kind === 'end')
}

/** Throws what matching with this pattern would throw. */
export function checkPattern(pattern: Entry): void {
  compile(pattern)
}

function compile(pattern: Entry): State {
  const known = cache.get(pattern.text)
  if (known) return known
  const start = parsePattern(pattern.text)
  if (typeof start === 'string') {
    const message = `the regular expression ${JSON.stringify(pattern.text.slice(0, 100))} has ${start}, which is not supported`
    throw new BailiwickError('kustomize-unsupported', message, { origin: pattern.origin })
  }
  if (cache.size > 1_000) cache.clear()
  cache.set(pattern.text, start)
  return start
}

function closure(states: readonly State[], atStart: boolean, atEnd: boolean): State[] {
  const seen = new Set<State>()
  const stack = [...states]
  for (let state = stack.pop(); state; state = stack.pop()) {
    if (seen.has(state)) continue
    seen.add(state)
    if (state.kind === 'split') stack.push(...state.next)
    else if (state.kind === 'start' && atStart) stack.push(state.next)
    else if (state.kind === 'finish' && atEnd) stack.push(state.next)
  }
  return [...seen]
}
