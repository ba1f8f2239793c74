/** Waits for all of them, then throws the first failure: nothing goes on behind the caller's back. */
export async function settleAll<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(promises)
  return results.map(result => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}
