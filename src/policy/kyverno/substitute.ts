import {
  type ContextValue,
  isFields,
  isList,
  jsonText,
  known,
  NotEvaluatedError,
  RuleError,
} from './jmespath/values.ts'
import type { JsonContext } from './json-context.ts'
import { referencesIn } from './references.ts'

/** `{{ }}` and the character before it; the expression may contain the braces of an object. */
const VARIABLE = /(?:^|[^\\])\{\{(?:\{[^{}]*\}|[^{}])*\}\}/g
const AT_START = /^\{\{(?:\{[^{}]*\}|[^{}])*\}\}/
const MAX_TEXT = 1_000_000

/**
 * Replaces references and variables in a part of a rule (pkg/engine/variables of Kyverno). A text that is exactly one variable
 * becomes the variable's value, and variables in that value are replaced again. Throws RuleError for an unresolvable variable.
 */
export function substitute(value: ContextValue, context: JsonContext): ContextValue {
  return replaced(referencesIn(value), context, [])
}

function replaced(value: ContextValue, context: JsonContext, path: readonly string[]): ContextValue {
  const plain = typeof value === 'string' ? inText(value, context, path) : value
  context.steps.spend()
  if (isList(plain)) return plain.map((item, index) => replaced(item, context, [...path, String(index)]))
  if (!isFields(plain)) return plain
  const made = new Map<string, ContextValue>()
  for (const [key, item] of plain) {
    const name = key.includes('{{') ? inText(key, context, path) : key
    if (name !== null && typeof name !== 'string') throw new RuleError(`the key ${key} does not become a string`)
    made.set(name ?? key, replaced(item, context, [...path, key]))
  }
  return made
}

function inText(text: string, context: JsonContext, path: readonly string[]): ContextValue {
  if (!text.includes('{{')) return text
  let value = text
  let found = value.match(VARIABLE) ?? []
  while (found.length > 0) {
    const before = value
    let isShallow = false
    for (const match of found) {
      context.steps.spend(1 + value.length / 100)
      const variable = AT_START.test(match) ? match : match.slice(1)
      const [expression, once] = expressionIn(variable)
      isShallow = once
      const resolved = resolve(expression, context, path)
      if (before === variable) return resolved
      let made = typeof resolved === 'string' ? resolved : jsonText(resolved)
      if (once && resolved !== null) made = made.replaceAll('{{', '\\{{')
      value = replaceFirst(value, match, match.slice(0, match.length - variable.length) + made)
      if (value.length > MAX_TEXT) throw new NotEvaluatedError(`a text of more than ${MAX_TEXT} characters`)
    }
    found = isShallow ? [] : (value.match(VARIABLE) ?? [])
  }
  return value.replaceAll('\\{{', '{{')
}

/** The expression, and whether its result is final and not substituted again (`{{- }}`). */
function expressionIn(variable: string): readonly [string, boolean] {
  const text = variable.replaceAll('{{', '').replaceAll('}}', '').trim()
  return text.startsWith('-') ? [text.slice(1).trim(), true] : [text, false]
}

function resolve(expression: string, context: JsonContext, path: readonly string[]): ContextValue {
  const named = expression === '@' ? placeOf(path) : expression
  const text = context.isDeletion ? named.replaceAll('request.object', 'request.oldObject') : named
  return context.query(text)
}

/** `@`: the value at the same path of the object; Kyverno drops the first two steps. */
function placeOf(path: readonly string[]): string {
  const start = path.indexOf('foreach') + 1
  const steps = path.slice(start + 2)
  return steps.reduce(
    (made, step) => (/^\d+$/.test(step) ? `${made}[${step}]` : `${made}.${JSON.stringify(step)}`),
    'request.object',
  )
}

function replaceFirst(text: string, what: string, by: string): string {
  const at = text.indexOf(what)
  return at < 0 ? text : text.slice(0, at) + by + text.slice(at + what.length)
}

/** A message with its variables replaced; undefined if Kyverno would not show it. */
export function substituteText(text: string, context: JsonContext): string | undefined {
  try {
    const made = known(substitute(text, context))
    return typeof made === 'string' ? made : undefined
  } catch (error) {
    if (error instanceof RuleError || error instanceof NotEvaluatedError) return undefined
    throw error
  }
}
