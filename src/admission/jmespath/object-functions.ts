import { BailiwickError } from '../../base/errors.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import { plainText } from './text-functions.ts'
import {
  argument,
  type ContextValue,
  type ExpressionReference,
  fieldsOf,
  fromJson,
  fromNode,
  isFields,
  isList,
  isSame,
  jsonText,
  type KyvernoFunctions,
  known,
  listOf,
  NotEvaluatedError,
  numberOf,
  RuleError,
  referenceOf,
  textOf,
} from './values.ts'

/** Object and type functions, including Kyverno's. */
export const OBJECT_FUNCTIONS: KyvernoFunctions = {
  keys: { takes: [['object']], call: args => [...fieldsOf(args, 0).keys()] },
  values: { takes: [['object']], call: args => [...fieldsOf(args, 0).values()] },
  merge: {
    takes: [['object']],
    isVariadic: true,
    call: args => new Map(args.flatMap((_, index) => [...fieldsOf(args, index)])),
  },
  type: {
    takes: [['any']],
    call: args => {
      const value = argument(args, 0)
      if (value === null) return 'null'
      return isList(value) ? 'array' : isFields(value) ? 'object' : typeof value
    },
  },
  to_string: {
    takes: [['any']],
    call: args => {
      const value = argument(args, 0)
      return typeof value === 'string' ? value : jsonText(value)
    },
  },
  to_number: {
    takes: [['any']],
    call: args => {
      const value = argument(args, 0)
      return typeof value === 'string' ? (readFloat(value) ?? null) : typeof value === 'number' ? value : null
    },
  },
  label_match: {
    takes: [['object'], ['object']],
    call: args => {
      const given = fieldsOf(args, 1)
      return [...fieldsOf(args, 0)].every(([key, value]) => given.has(key) && isSame(value, given.get(key)!))
    },
  },
  lookup: {
    takes: [
      ['object', 'array'],
      ['string', 'number'],
    ],
    call: args => lookedUp(argument(args, 0), args),
  },
  items: {
    takes: [['object', 'array'], ['string'], ['string']],
    call: args => {
      const [value, key, item] = [argument(args, 0), textOf(args, 1), textOf(args, 2)]
      const entries: [ContextValue, ContextValue][] = isFields(value)
        ? [...value].sort(([a], [b]) => (a < b ? -1 : 1))
        : listOf(args, 0).map((one, index) => [index, one])
      return entries.map(([name, one]) => new Map<string, ContextValue>([...[[key, name] as const], [item, one]]))
    },
  },
  object_from_lists: {
    takes: [['array'], ['array']],
    call: args => {
      const values = listOf(args, 1)
      return new Map(listOf(args, 0).map((key, index) => [plainText(key), values[index] ?? null]))
    },
  },
  parse_json: { takes: [['string']], call: args => parseJson(textOf(args, 0)) },
  parse_yaml: { takes: [['string']], call: args => parseYaml(textOf(args, 0)) },
}

function lookedUp(value: ContextValue, args: Parameters<typeof argument>[0]): ContextValue {
  if (isFields(value)) return value.get(textOf(args, 1)) ?? null
  const index = numberOf(args, 1)
  if (!Number.isInteger(index)) throw new RuleError('lookup: the index is not an integer')
  return index < 0 ? null : (listOf(args, 0)[index] ?? null)
}

/** Parses a decimal number as Go's strconv.ParseFloat does. */
export function readFloat(text: string): number | undefined {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

const NUMBERS = ['array[number]'] as const
const COMPARABLE = ['array[number]', 'array[string]'] as const
const ARRAY = ['array'] as const
const EXPRESSION = ['expref'] as const

/** Number and list functions (jmespath.org/specification#built-in-functions). */
export const LIST_FUNCTIONS: KyvernoFunctions = {
  abs: { takes: [['number']], call: args => Math.abs(numberOf(args, 0)) },
  ceil: { takes: [['number']], call: args => Math.ceil(numberOf(args, 0)) },
  floor: { takes: [['number']], call: args => Math.floor(numberOf(args, 0)) },
  avg: {
    takes: [NUMBERS],
    call: args => {
      const numbers = listOf(args, 0) as readonly number[]
      return numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length
    },
  },
  contains: {
    takes: [['array', 'string'], ['any']],
    call: args => {
      const [where, what] = [argument(args, 0), argument(args, 1)]
      if (typeof where === 'string') return typeof what === 'string' && where.includes(what)
      // Go cannot compare lists or objects
      if (isList(what) || isFields(what)) throw new RuleError('contains: an array or an object cannot be compared')
      return listOf(args, 0).some(item => isSame(item, what))
    },
  },
  length: {
    takes: [['string', 'array', 'object']],
    call: args => {
      const value = argument(args, 0)
      if (typeof value === 'string') return [...value].length
      return isList(value) ? value.length : (value as ReadonlyMap<string, ContextValue>).size
    },
  },
  map: { takes: [EXPRESSION, ARRAY], call: args => listOf(args, 1).map(item => referenceOf(args, 0).of(item)) },
  max: { takes: [COMPARABLE], call: args => best(listOf(args, 0) as readonly string[], (a, b) => a > b) },
  min: { takes: [COMPARABLE], call: args => best(listOf(args, 0) as readonly string[], (a, b) => a < b) },
  max_by: { takes: [ARRAY, EXPRESSION], call: args => bestBy(listOf(args, 0), referenceOf(args, 1), (a, b) => a > b) },
  min_by: { takes: [ARRAY, EXPRESSION], call: args => bestBy(listOf(args, 0), referenceOf(args, 1), (a, b) => a < b) },
  reverse: {
    takes: [['array', 'string']],
    call: args => {
      const value = argument(args, 0)
      return typeof value === 'string' ? [...value].reverse().join('') : [...listOf(args, 0)].reverse()
    },
  },
  sort: { takes: [COMPARABLE], call: args => [...(listOf(args, 0) as readonly string[])].sort(order) },
  sort_by: {
    takes: [ARRAY, EXPRESSION],
    call: args => {
      const list = listOf(args, 0)
      if (list.length < 2) return list
      const keyed = keysOf(list, referenceOf(args, 1))
      return keyed.sort((a, b) => order(a.key, b.key)).map(({ item }) => item)
    },
  },
  join: { takes: [['string'], ['array[string]']], call: args => listOf(args, 1).join(textOf(args, 0)) },
  not_null: {
    takes: [['any']],
    isVariadic: true,
    call: args => (args as readonly ContextValue[]).find(one => known(one) !== null) ?? null,
  },
  to_array: {
    takes: [['any']],
    call: args => {
      const value = argument(args, 0)
      return isList(value) ? value : [value]
    },
  },
}

const order = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0)

function best<T extends ContextValue>(list: readonly T[], isBetter: (a: T, b: T) => boolean): ContextValue {
  let found = list[0]
  for (const item of list) if (isBetter(item, found!)) found = item
  return found ?? null
}

function bestBy(
  list: readonly ContextValue[],
  by: ExpressionReference,
  isBetter: (a: string, b: string) => boolean,
): ContextValue {
  if (list.length < 2) return list[0] ?? null
  const keyed = keysOf(list, by)
  let found = keyed[0]!
  for (const one of keyed) if (isBetter(one.key as string, found.key as string)) found = one
  return found.item
}

/** Each item with its sort key; all keys are numbers or all are texts. */
function keysOf(
  list: readonly ContextValue[],
  by: ExpressionReference,
): { readonly item: ContextValue; readonly key: string | number }[] {
  const keyed = list.map(item => ({ item, key: known(by.of(item)) }))
  const type = typeof keyed[0]?.key
  if (type !== 'string' && type !== 'number') throw new RuleError('items are compared by numbers or strings only')
  return keyed.map(({ item, key }) => {
    if (typeof key !== type) throw new RuleError('items are compared by numbers or strings only')
    return { item, key: key as string | number }
  })
}

const NOWHERE = { repository: '', file: '', line: 1, column: 1 }
const MAX_TEXT = 100_000

/** `parse_json`. */
function parseJson(text: string): ContextValue {
  refuseLong(text)
  try {
    return fromJson(JSON.parse(text))
  } catch {
    throw new RuleError('parse_json: the text is not JSON')
  }
}

/** `parse_yaml`, for a single document. */
function parseYaml(text: string): ContextValue {
  refuseLong(text)
  try {
    const { documents } = parseText(text, () => NOWHERE)
    const [first] = documents
    return first ? fromNode(first) : null
  } catch (error) {
    if (error instanceof BailiwickError) throw new NotEvaluatedError(`parse_yaml: ${error.message}`)
    throw error
  }
}

function refuseLong(text: string): void {
  if (text.length > MAX_TEXT) throw new NotEvaluatedError(`a text of more than ${MAX_TEXT} characters`)
}
