import { argument, type KyvernoFunctions, listOf, numberOf, referenceOf, textOf } from './jmespath-function.ts'
import type { ExpressionReference } from './takes-argument.ts'
import { type ContextValue, isFields, isList, isSame, known, RuleError } from './values.ts'

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
