/** Returns the result of the promise, or `late` after `limitMs`. A later rejection is ignored. */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | 'late'> {
  const limit = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => limit.resolve('late'), limitMs)
  try {
    return await Promise.race([promise, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}
