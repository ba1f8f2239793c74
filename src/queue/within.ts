/** What the promise gives, or `late` when that takes more than `limitMs`. A rejection that comes late is dropped. */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | 'late'> {
  const limit = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => limit.resolve('late'), limitMs)
  try {
    return await Promise.race([promise, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}
