const QUIET_MS = 60_000
const FREE = 5
const LONGEST_MS = 60_000

/**
 * How long to wait before a node is put back once more: not at all, unless it drifted many times within a minute. Then two
 * clients want different things, and only one of them may be told by how often it writes.
 */
export class DriftPace {
  readonly #drifts = new Map<string, { count: number; at: number }>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  delayMs(key: string): number {
    const now = this.#now()
    for (const [other, { at }] of this.#drifts) if (now - at > QUIET_MS + LONGEST_MS) this.#drifts.delete(other)
    const count = (this.#drifts.get(key)?.count ?? 0) + 1
    this.#drifts.set(key, { count, at: now })
    return count <= FREE ? 0 : Math.min(1000 * 2 ** Math.min(count - FREE - 1, 20), LONGEST_MS)
  }
}
