import { BailiwickError } from '../../errors.ts'

/** Whether two values of plain data are the same in every part: nodes with all their origins, maps in the same order. */
export function sameDeep(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && sameList(a, b)
  if (a instanceof Map) return b instanceof Map && sameMap(a, b)
  if (a instanceof Set) return b instanceof Set && sameList([...a], [...b])
  if (a instanceof BailiwickError) return b instanceof BailiwickError && a.message === b.message && sameFields(a, b)
  return Object.getPrototypeOf(a) === Object.getPrototypeOf(b) && sameFields(a, b)
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => sameDeep(item, b[index]))
}

function sameMap(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false
  const others = b.entries()
  for (const [key, value] of a) {
    const [otherKey, other] = others.next().value!
    if (key !== otherKey || !sameDeep(value, other)) return false
  }
  return true
}

function sameFields(a: object, b: object): boolean {
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(key => Object.hasOwn(b, key) && sameDeep(a[key as never], b[key as never]))
}
