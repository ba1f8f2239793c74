import { arithmetic } from '../arithmetic.ts'
import { CelBudgetError, CelError } from '../expression.ts'
import {
  type CelValue,
  type CountSteps,
  compare,
  type FunctionTable,
  isEqual,
  isList,
  keyText,
  Optional,
  sorted,
} from '../values.ts'

/** How long a list may grow by `range`. */
const MAX_RANGE = 100_000

/** Functions of lists of Kubernetes and of cel-go's ext.Lists, version 3. */
export const LISTS: FunctionTable = {
  functions: {
    'optional.unwrap': ([list], spend) => ofList(list, spend, unwrap),
    'lists.range': ([count]) => (typeof count === 'bigint' ? range(count) : undefined),
  },
  methods: {
    isSorted: ([list], spend) => ofList(list, spend, items => pairs(items).every(([a, b]) => compare(a, b) <= 0)),
    sum: ([list], spend) => ofList(list, spend, items => sum(items, spend)),
    min: ([list], spend) => ofList(list, spend, items => extreme(items, -1)),
    max: ([list], spend) => ofList(list, spend, items => extreme(items, 1)),
    indexOf: ([list, item], spend) =>
      ofList(list, spend, items => BigInt(items.findIndex(one => isEqual(one, item!, spend)))),
    lastIndexOf: ([list, item], spend) =>
      ofList(list, spend, items => BigInt(items.findLastIndex(one => isEqual(one, item!, spend)))),
    slice: ([list, from, to], spend) => {
      if (typeof from !== 'bigint' || typeof to !== 'bigint') return undefined
      return ofList(list, spend, items => slice(items, from, to))
    },
    flatten: ([list, depth = 1n], spend) => {
      if (typeof depth !== 'bigint') return undefined
      if (depth < 0n) throw new CelError('level must be non-negative')
      return ofList(list, spend, items => flatten(items, depth, spend))
    },
    sort: ([list], spend) => ofList(list, spend, items => sorted(items, items, spend)),
    distinct: ([list], spend) => ofList(list, spend, items => distinct(items, spend)),
    reverse: ([list], spend) => ofList(list, spend, items => [...items].reverse()),
    first: ([list], spend) => ofList(list, spend, items => new Optional(items[0])),
    last: ([list], spend) => ofList(list, spend, items => new Optional(items.at(-1))),
    unwrapOpt: ([list], spend) => ofList(list, spend, unwrap),
  },
}

function ofList(
  list: CelValue | undefined,
  spend: CountSteps,
  answer: (items: readonly CelValue[]) => CelValue | undefined,
): CelValue | undefined {
  if (list === undefined || !isList(list)) return undefined
  spend(list.length)
  return answer(list)
}

const pairs = (items: readonly CelValue[]) => items.slice(1).map((item, index) => [items[index]!, item] as const)

function sum(items: readonly CelValue[], spend: CountSteps): CelValue {
  const [first, ...others] = items
  if (first === undefined) return 0n
  return others.reduce((total, item) => arithmetic('+', total, item, spend), first)
}

function extreme(items: readonly CelValue[], sign: 1 | -1): CelValue {
  const [first, ...others] = items
  if (first === undefined) throw new CelError(`${sign > 0 ? 'max' : 'min'} called on empty list`)
  return others.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best), first)
}

function slice(items: readonly CelValue[], from: bigint, to: bigint): CelValue {
  if (from < 0n || to < 0n) throw new CelError(`cannot slice(${from}, ${to}), negative indexes not supported`)
  if (from > to) throw new CelError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`)
  if (to > BigInt(items.length)) throw new CelError(`cannot slice(${from}, ${to}), list is length ${items.length}`)
  return items.slice(Number(from), Number(to))
}

function flatten(items: readonly CelValue[], depth: bigint, spend: CountSteps): CelValue[] {
  return items.flatMap((item): CelValue[] => {
    spend(1)
    if (!isList(item)) return [item]
    return depth <= 1n ? [...item] : flatten(item, depth - 1n, spend)
  })
}

function unwrap(items: readonly CelValue[]): CelValue {
  return items.flatMap(item => {
    if (!(item instanceof Optional)) throw new CelError('no such overload')
    return item.value === undefined ? [] : [item.value]
  })
}

function distinct(items: readonly CelValue[], spend: CountSteps): CelValue {
  const seen = new Set<string>()
  const kept: CelValue[] = []
  for (const item of items) {
    const text = keyText(item)
    if (text !== undefined) {
      if (!seen.has(text)) kept.push(item)
      seen.add(text)
    } else if (!kept.some(one => isEqual(one, item, spend))) kept.push(item)
  }
  return kept
}

function range(count: bigint): CelValue {
  if (count > BigInt(MAX_RANGE)) throw new CelBudgetError(`lists.range: size ${count} exceeds ${MAX_RANGE}`)
  return Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index))
}
