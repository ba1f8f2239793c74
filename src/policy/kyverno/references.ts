import { type ContextValue, isFields, isList, RuleError } from './jmespath/values.ts'

const REFERENCE = /^\$\(.[^ ]*\)|[^\\]\$\(.[^ ]*\)/g
const ESCAPED = /\\\$\(.[^ )]*\)/g
const ANCHOR = /^[+<=X^]?\((.+)\)$/
const OPERATOR = /^(?:>=|<=|>|<|!)/

/**
 * Replaces references to other fields of a rule, such as `$(./../limits)`, by the values of these fields
 * (pkg/engine/variables of Kyverno).
 */
export function referencesIn(document: ContextValue): ContextValue {
  if (!mentions(document)) return document
  const leaves = new Map<string, ContextValue>()
  collect(document, [], leaves)
  return replaced(document, [], leaves)
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

function replaced(
  value: ContextValue,
  path: readonly string[],
  leaves: ReadonlyMap<string, ContextValue>,
): ContextValue {
  if (typeof value === 'string') return inText(value, path, leaves)
  if (isList(value)) return value.map((item, index) => replaced(item, [...path, String(index)], leaves))
  if (!isFields(value)) return value
  return new Map(
    [...value].map(([key, item]) => [
      inText(key, path, leaves),
      replaced(item, [...path, ANCHOR.exec(key)?.[1] ?? key], leaves),
    ]),
  )
}

function inText(text: string, path: readonly string[], leaves: ReadonlyMap<string, ContextValue>): string {
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
