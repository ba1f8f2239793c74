import { search } from '../jmespath/search.ts'
import {
  type ContextValue,
  isFields,
  isList,
  jsonText,
  known,
  NotEvaluatedError,
  RuleError,
  type RuleSteps,
} from '../jmespath/values.ts'

/** A context name. It is evaluated when an expression uses it, and sees only earlier names. */
interface Entry {
  readonly mention: RegExp
  readonly load: (context: JsonContext) => void
  isAsked: boolean
}

/** The names that a rule's expressions can use (pkg/engine/context of Kyverno). */
export class JsonContext {
  readonly steps: RuleSteps
  /** In a deletion, `request.object` is the object being deleted. */
  readonly isDeletion: boolean
  readonly #values: Map<string, ContextValue>
  readonly #entries: Entry[] = []
  #open = Number.POSITIVE_INFINITY

  constructor(values: ReadonlyMap<string, ContextValue>, isDeletion: boolean, steps: RuleSteps) {
    this.#values = new Map(values)
    this.isDeletion = isDeletion
    this.steps = steps
  }

  /** A context for one list item, in which names can be redefined. */
  child(values: readonly (readonly [string, ContextValue])[]): JsonContext {
    const made = new JsonContext(new Map([...this.#values, ...values]), this.isDeletion, this.steps)
    for (const entry of this.#entries) made.#entries.push({ ...entry })
    return made
  }

  set(name: string, value: ContextValue): void {
    this.#values.set(name, value)
  }

  /** Defines `name` and calls `load` when an expression first uses it. */
  defer(name: string, load: (context: JsonContext) => void): void {
    const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const mention = new RegExp(`(?:^|\\s|[^.0-9A-Za-z])${escaped}(?![0-9A-Za-z_])`)
    this.#entries.push({ mention, load, isAsked: false })
  }

  /** The result of an expression; throws RuleError if Kyverno cannot evaluate it. */
  query(expression: string): ContextValue {
    this.#loadFor(expression)
    const text = expression.trim()
    if (text === '') throw new RuleError('invalid query (nil)')
    return search(text, this.#values, this.steps)
  }

  #loadFor(expression: string): void {
    const open = Math.min(this.#open, this.#entries.length)
    for (let index = 0; index < open; index++) {
      const entry = this.#entries[index]!
      if (entry.isAsked || !entry.mention.test(expression)) continue
      entry.isAsked = true
      const before = this.#open
      this.#open = index
      try {
        entry.load(this)
      } finally {
        this.#open = before
      }
    }
  }
}

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

const REFERENCE = /^\$\(.[^ ]*\)|[^\\]\$\(.[^ ]*\)/g
const ESCAPED = /\\\$\(.[^ )]*\)/g
const ANCHOR = /^[+<=X^]?\((.+)\)$/
const OPERATOR = /^(?:>=|<=|>|<|!)/

/**
 * Replaces references to other fields of a rule, such as `$(./../limits)`, by the values of these fields
 * (pkg/engine/variables of Kyverno).
 */
function referencesIn(document: ContextValue): ContextValue {
  if (!mentions(document)) return document
  const leaves = new Map<string, ContextValue>()
  collect(document, [], leaves)
  return replacedReferences(document, [], leaves)
}

function mentions(value: ContextValue): boolean {
  if (typeof value === 'string') return value.includes('$(')
  if (isList(value)) return value.some(mentions)
  return isFields(value) && [...value].some(([key, item]) => key.includes('$(') || mentions(item))
}

/** Collects every leaf by its path, without anchors. */
function collect(value: ContextValue, path: readonly string[], leaves: Map<string, ContextValue>): void {
  if (isList(value)) for (const [index, item] of value.entries()) collect(item, [...path, String(index)], leaves)
  else if (isFields(value)) {
    for (const [key, item] of value) collect(item, [...path, ANCHOR.exec(key)?.[1] ?? key], leaves)
  } else leaves.set(path.join('/'), value)
}

function replacedReferences(
  value: ContextValue,
  path: readonly string[],
  leaves: ReadonlyMap<string, ContextValue>,
): ContextValue {
  if (typeof value === 'string') return inReferenceText(value, path, leaves)
  if (isList(value)) return value.map((item, index) => replacedReferences(item, [...path, String(index)], leaves))
  if (!isFields(value)) return value
  return new Map(
    [...value].map(([key, item]) => [
      inReferenceText(key, path, leaves),
      replacedReferences(item, [...path, ANCHOR.exec(key)?.[1] ?? key], leaves),
    ]),
  )
}

function inReferenceText(text: string, path: readonly string[], leaves: ReadonlyMap<string, ContextValue>): string {
  const made = text.replace(REFERENCE, match => {
    const reference = match.startsWith('$(') ? match : match.slice(1)
    return match.slice(0, match.length - reference.length) + resolved(reference, path, leaves)
  })
  return made.replace(ESCAPED, one => one.slice(1))
}

function resolved(reference: string, path: readonly string[], leaves: ReadonlyMap<string, ContextValue>): string {
  const inner = reference.replace(/^[$()]+|[$()]+$/g, '')
  const operator = OPERATOR.exec(inner)?.[0] ?? ''
  const target = inner.slice(operator.length)
  if (target === '') throw new RuleError('expected path, found empty reference')
  const steps = target.startsWith('/') ? [] : [...path]
  for (const step of target.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  const value = leaves.get(steps.join('/'))
  if (typeof value === 'string') return operator + value
  if (typeof value === 'number' && operator !== '') return operator + String(value)
  throw new RuleError(`the reference ${reference} is not resolved`)
}
