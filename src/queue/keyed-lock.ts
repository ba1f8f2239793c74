/** So many keys are remembered; whoever comes to a forgotten one is counted anew. */
const MOST = 10_000

/** A keyed lock within one process. */
export class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>()
  readonly #entries = new Map<string, number>()

  entries(key: string): number {
    return this.#entries.get(key) ?? 0
  }

  async withLock<T>(key: string, work: (entry: number) => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const run = (before ?? Promise.resolve()).then(() => work(this.#count(key)))
    const tail = run.catch(() => undefined) // the caller hears of it, who comes next does not
    this.#tails.set(key, tail)
    try {
      return await run
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }

  #count(key: string): number {
    const entry = this.entries(key) + 1
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MOST && oldest !== undefined) this.#entries.delete(oldest)
    return entry
  }
}
