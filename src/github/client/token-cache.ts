/** A token lives for an hour; one that is about to end is not begun with. */
const TTL_MS = 55 * 60 * 1000

/**
 * Where all clients of an App keep their installation tokens: without it each client asks for its own, and GitHub gives an
 * App 2,000 per hour. In memory only.
 */
export function tokenCache() {
  const entries = new Map<string, { readonly value: string; readonly until: number }>()
  return {
    get(key: string): string {
      const entry = entries.get(key)
      // octokit takes any empty answer for none
      return entry && entry.until > Date.now() ? entry.value : ''
    },
    set(key: string, value: string): void {
      const now = Date.now()
      for (const [old, { until }] of entries) if (until <= now) entries.delete(old)
      entries.set(key, { value, until: now + TTL_MS })
    },
  }
}
