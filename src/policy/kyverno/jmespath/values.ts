import type { Json, Node } from '../../../kube/node.ts'

/** A value as Kyverno's JSON context isConditionMet it: every number is a float64. */
export type ContextValue = null | boolean | number | string | readonly ContextValue[] | Fields | Unknown

export type Fields = ReadonlyMap<string, ContextValue>

/** A value that only the cluster has, and why. Whatever depends on it is not evaluated. */
export class Unknown {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** A rule that Kyverno cannot evaluate: its webhook answers as `failurePolicy` says. */
export class RuleError extends Error {}

/** What a rule says depends on something that is not known or not supported here. */
export class NotEvaluatedError extends Error {}

export const isFields = (value: ContextValue | undefined): value is Fields => value instanceof Map

export const isList = (value: ContextValue | undefined): value is readonly ContextValue[] => Array.isArray(value)

/** The value, where it is known. */
export function known<T extends ContextValue | undefined>(value: T): Exclude<T, Unknown> {
  if (value instanceof Unknown) throw new NotEvaluatedError(value.why)
  return value as Exclude<T, Unknown>
}

export function fromJson(json: Json): ContextValue {
  if (Array.isArray(json)) return json.map(fromJson)
  if (json === null || typeof json !== 'object') return json
  return new Map(Object.entries(json).map(([key, item]) => [key, fromJson(item)]))
}

/** The value of a node; integers beyond 2^53 are rounded, as Kyverno's JSON rounds them. */
export function fromNode(node: Node): ContextValue {
  if (node.type === 'list') return node.items.map(fromNode)
  if (node.type === 'map') return new Map([...node.fields].map(([key, field]) => [key, fromNode(field.value)]))
  if (node.opaque) return new Unknown('a value that only the cluster has')
  return typeof node.value === 'bigint' ? Number(node.value) : node.value
}

/** The value below the keys; undefined where one is absent. */
export function valueAt(value: ContextValue | undefined, keys: readonly string[]): ContextValue | undefined {
  let here = value
  for (const key of keys) here = isFields(here) ? here.get(key) : here instanceof Unknown ? here : undefined
  return here
}

/** The text below the keys; '' where there is none. */
export function textAt(value: ContextValue | undefined, keys: readonly string[]): string {
  const found = known(valueAt(value, keys))
  return typeof found === 'string' ? found : ''
}

/** Whether two values are the same, as Go's reflect.DeepEqual of JSON. */
export function isSame(a: ContextValue, b: ContextValue): boolean {
  const [left, right] = [known(a), known(b)]
  if (isList(left)) {
    return isList(right) && left.length === right.length && left.every((item, index) => isSame(item, right[index]!))
  }
  if (!isFields(left)) return left === right
  if (!isFields(right) || left.size !== right.size) return false
  return [...left].every(([key, item]) => {
    const other = right.get(key)
    return other !== undefined && isSame(item, other)
  })
}

const SPECIAL = /[<>&\u2028\u2029]/g

/** JSON as Go writes it: keys sorted, characters of HTML escaped. */
export function jsonText(value: ContextValue): string {
  const plain = known(value)
  if (isList(plain)) return `[${plain.map(jsonText).join(',')}]`
  if (isFields(plain)) {
    const entries = [...plain].sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, item]) => `${quotedText(key)}:${jsonText(item)}`).join(',')}}`
  }
  return typeof plain === 'string' ? quotedText(plain) : typeof plain === 'number' ? numberText(plain) : String(plain)
}

function quotedText(text: string): string {
  return JSON.stringify(text).replace(SPECIAL, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A float64 in Go's JSON: exponents have two digits at least. */
function numberText(number: number): string {
  return String(number).replace(/e([-+])(\d)$/, 'e$10$2')
}

/** A value as Go's fmt.Sprint writes it. */
export function goText(value: ContextValue): string {
  const plain = known(value)
  if (plain === null) return '<nil>'
  if (isList(plain)) return `[${plain.map(goText).join(' ')}]`
  if (isFields(plain)) {
    const entries = [...plain].sort(([a], [b]) => (a < b ? -1 : 1))
    return `map[${entries.map(([key, item]) => `${key}:${goText(item)}`).join(' ')}]`
  }
  if (typeof plain !== 'number') return String(plain)
  const size = Math.abs(plain)
  const text = size !== 0 && (size < 1e-4 || size >= 1e21) ? plain.toExponential() : String(plain)
  return text.replace(/e([-+])(\d)$/, 'e$10$2')
}

/** Plain JSON of a value that is known as a whole. */
export function jsonOf(value: ContextValue): Json {
  const plain = known(value)
  if (isList(plain)) return plain.map(jsonOf)
  if (!isFields(plain)) return plain as Json
  const made: { [key: string]: Json } = Object.create(null)
  for (const [key, item] of plain) made[key] = jsonOf(item)
  return made
}
