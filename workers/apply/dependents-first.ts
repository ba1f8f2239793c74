/**
 * Groups items so that each comes before what it needs: what nobody needs first. Items of one group do not need each other,
 * except in a last group of circles and what those need.
 */
export function dependentsFirst<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  needs: (item: T) => readonly string[],
): T[][] {
  const byKey = new Map(items.map(item => [keyOf(item), item]))
  const needed = (item: T) => new Set(needs(item).filter(key => byKey.has(key) && key !== keyOf(item)))
  /** By how many each is still needed. */
  const dependents = new Map(items.map(item => [keyOf(item), 0]))
  for (const item of items) for (const key of needed(item)) dependents.set(key, dependents.get(key)! + 1)
  const groups: T[][] = []
  const rest = new Set(items)
  for (let group = items.filter(item => dependents.get(keyOf(item)) === 0); group.length > 0; ) {
    groups.push(group)
    const next: T[] = []
    for (const item of group) {
      rest.delete(item)
      for (const key of needed(item)) {
        dependents.set(key, dependents.get(key)! - 1)
        if (dependents.get(key) === 0) next.push(byKey.get(key)!)
      }
    }
    group = next
  }
  return rest.size > 0 ? [...groups, [...rest]] : groups
}
