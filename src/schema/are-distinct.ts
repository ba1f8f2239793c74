import type { Node } from '../kube/node.ts'
import { keyOf } from './key-of.ts'

/** Whether all items of a list have a key, and no two the same. */
export function areDistinct(
  items: readonly Node[],
  keys: readonly string[] | '=',
  defaults?: ReadonlyMap<string, string>,
): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const key = keyOf(item, keys, defaults)
    if (key === undefined) return false
    seen.add(key)
  }
  return seen.size === items.length
}
