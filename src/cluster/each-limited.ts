/**
 * Calls `work` for every item, at most `limit` at a time; results in the order of the items. After a failure nothing
 * more is started, what runs is waited for, and the first error is thrown.
 */
export async function eachLimited<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const failures: unknown[] = []
  let next = 0
  const lane = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++
      try {
        results[index] = await work(items[index]!)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
  if (failures.length > 0) throw failures[0]
  return results
}
