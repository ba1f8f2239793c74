import type { Json, Node } from '../../kube/node.ts'

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

/** A JMESPath function. Its caller has checked the types of the arguments. */
export interface JmespathFunction {
  readonly takes: readonly (readonly ArgumentType[])[]
  readonly isVariadic?: true
  readonly call: (args: readonly (ContextValue | ExpressionReference)[], steps: RuleSteps) => ContextValue
}

export type KyvernoFunctions = Readonly<Record<string, JmespathFunction>>

/** Returns a text argument. Throws RuleError for another type. */
export function textOf(args: readonly (ContextValue | ExpressionReference)[], index: number): string {
  const value = argument(args, index)
  if (typeof value !== 'string') throw new RuleError(`argument ${index + 1} is not a string`)
  return value
}

export function numberOf(args: readonly (ContextValue | ExpressionReference)[], index: number): number {
  const value = argument(args, index)
  if (typeof value !== 'number') throw new RuleError(`argument ${index + 1} is not a number`)
  return value
}

export function listOf(args: readonly (ContextValue | ExpressionReference)[], index: number): readonly ContextValue[] {
  const value = argument(args, index)
  if (!isList(value)) throw new RuleError(`argument ${index + 1} is not an array`)
  return value
}

export function fieldsOf(
  args: readonly (ContextValue | ExpressionReference)[],
  index: number,
): ReadonlyMap<string, ContextValue> {
  const value = argument(args, index)
  if (!isFields(value)) throw new RuleError(`argument ${index + 1} is not an object`)
  return value
}

export function argument(args: readonly (ContextValue | ExpressionReference)[], index: number): ContextValue {
  const given = args[index] ?? null
  if (isReference(given)) throw new RuleError(`argument ${index + 1} is a reference`)
  return known(given)
}

export function referenceOf(args: readonly (ContextValue | ExpressionReference)[], index: number): ExpressionReference {
  const given = args[index] ?? null
  if (!isReference(given)) throw new RuleError(`argument ${index + 1} is not a reference`)
  return given
}

const STRING = ['string'] as const
/** A function whose arguments are all texts. */
export const ofTexts = (count: number, call: (...texts: string[]) => ContextValue): JmespathFunction => ({
  takes: Array.from({ length: count }, () => STRING),
  call: args => call(...args.map((_, index) => textOf(args, index))),
})

/** An expression argument, written `&name`. */
export interface ExpressionReference {
  readonly of: (item: ContextValue) => ContextValue
}

/** Argument types as JMESPath names them. */
type ArgumentType = 'any' | 'string' | 'number' | 'array' | 'object' | 'array[number]' | 'array[string]' | 'expref'

/** Whether an argument has one of the types. */
export function takesArgument(types: readonly ArgumentType[], given: ContextValue | ExpressionReference): boolean {
  if (isReference(given)) return types.includes('expref')
  return types.some(type => {
    if (type === 'any') return true
    const value = known(given)
    if (type === 'array') return isList(value)
    if (type === 'object') return isFields(value)
    if (type === 'string' || type === 'number') return typeof value === type
    const item = type === 'array[number]' ? 'number' : type === 'array[string]' ? 'string' : undefined
    return item !== undefined && isList(value) && value.every(one => typeof known(one) === item)
  })
}

const isReference = (given: ContextValue | ExpressionReference): given is ExpressionReference =>
  typeof given === 'object' && given !== null && 'of' in given && typeof given.of === 'function'

/** Budget of one rule for one object, across all of its expressions and lists. */
const MAX_STEPS = 200_000

/** Counts the steps of a rule for one object, so that no expression or object can cause unbounded work. */
export class RuleSteps {
  #left = MAX_STEPS
  spend(count = 1): void {
    this.#left -= count
    if (this.#left < 0) throw new NotEvaluatedError(`it takes more than ${MAX_STEPS} steps`)
  }
}

/**
 * Whether text is of the form of a wildcard pattern of Kyverno: `*` is any text, `?` one character
 * (github.com/kyverno/kyverno, ext/wildcard). Goes back to the last `*` only, so it takes pattern times text at most.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let [at, from, star, mark] = [0, 0, -1, 0]
  while (from < text.length) {
    if (pattern[at] === '*') {
      star = at++
      mark = from
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[from])) {
      at++
      from++
    } else if (star >= 0) {
      at = star + 1
      from = ++mark
    } else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}
