import type { Json, Node } from '../../../kube/node.ts'

/** A value as Kyverno's JSON context holds it: every number is a float64. */
export type ContextValue = null | boolean | number | string | readonly ContextValue[] | Fields | Unknown

export type Fields = ReadonlyMap<string, ContextValue>

/** A value that only the cluster has, and the reason. Anything that depends on it is not evaluated. */
export class Unknown {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** A rule that Kyverno cannot evaluate; its webhook then follows `failurePolicy`. */
export class RuleError extends Error {}

/** The result of a rule depends on something that is unknown or not supported here. */
export class NotEvaluatedError extends Error {}

export const isFields = (value: ContextValue | undefined): value is Fields => value instanceof Map

export const isList = (value: ContextValue | undefined): value is readonly ContextValue[] => Array.isArray(value)

/** Returns a known value. Throws NotEvaluatedError for an unknown one. */
export function known<T extends ContextValue | undefined>(value: T): Exclude<T, Unknown> {
  if (value instanceof Unknown) throw new NotEvaluatedError(value.why)
  return value as Exclude<T, Unknown>
}

export function fromJson(json: Json): ContextValue {
  if (Array.isArray(json)) return json.map(fromJson)
  if (json === null || typeof json !== 'object') return json
  return new Map(Object.entries(json).map(([key, item]) => [key, fromJson(item)]))
}

/** The value of a node. Integers beyond 2^53 are rounded, as in Kyverno's JSON. */
export function fromNode(node: Node): ContextValue {
  if (node.type === 'list') return node.items.map(fromNode)
  if (node.type === 'map') return new Map([...node.fields].map(([key, field]) => [key, fromNode(field.value)]))
  if (node.opaque) return new Unknown('a value that only the cluster has')
  return typeof node.value === 'bigint' ? Number(node.value) : node.value
}

/** The value at a path of keys; undefined if a key is absent. */
export function valueAt(value: ContextValue | undefined, keys: readonly string[]): ContextValue | undefined {
  let here = value
  for (const key of keys) here = isFields(here) ? here.get(key) : here instanceof Unknown ? here : undefined
  return here
}

/** The text at a path of keys; '' if a key is absent. */
export function textAt(value: ContextValue | undefined, keys: readonly string[]): string {
  const found = known(valueAt(value, keys))
  return typeof found === 'string' ? found : ''
}

/** Whether two values are equal, as Go's reflect.DeepEqual compares JSON. */
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

/** JSON as Go encodes it: sorted keys, and escaped HTML characters. */
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

/** A float64 as Go encodes it in JSON: like JavaScript, but for minus zero (floatEncoder of encoding/json). */
const numberText = (number: number): string => (Object.is(number, -0) ? '-0' : String(number))

/** A value as Go's fmt.Sprint prints it. */
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

/** Plain JSON of a value without unknown parts. */
export function jsonOf(value: ContextValue): Json {
  const plain = known(value)
  if (isList(plain)) return plain.map(jsonOf)
  if (!isFields(plain)) return plain as Json
  const made: { [key: string]: Json } = Object.create(null)
  for (const [key, item] of plain) made[key] = jsonOf(item)
  return made
}
