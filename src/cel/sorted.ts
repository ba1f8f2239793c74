import { CelError } from './cel-error.ts'
import { type CelValue, compare } from './values.ts'

/** The items in the order of their keys: `sort` and `sortBy`. */
export function sorted(
  items: readonly CelValue[],
  keys: readonly CelValue[],
  spend: (steps: number) => void,
): CelValue {
  spend(items.length * Math.ceil(Math.log2(items.length + 1)))
  const order = keys.map((key, index) => ({ key, index }))
  for (const [a, b] of keys.slice(1).map((key, index) => [keys[index]!, key] as const)) {
    if (typeof a !== typeof b) throw new CelError('list elements must have the same type')
    compare(a, b)
  }
  return order.sort((a, b) => compare(a.key, b.key)).map(({ index }) => items[index]!)
}
