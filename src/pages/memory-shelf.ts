import type { TtlStore, TtlStoreLimits, TtlStoreNote } from './shelf.ts'

interface Item {
  readonly bytes: Buffer
  readonly note: string
  readonly until: number
}

/** A TTL store in the memory of this process. */
export class MemoryTtlStore implements TtlStore {
  readonly #limits: TtlStoreLimits
  /** Oldest first. */
  readonly #items = new Map<string, Item>()
  #held = 0

  constructor(limits: TtlStoreLimits) {
    this.#limits = limits
  }

  async put(key: string, bytes: Buffer, note = ''): Promise<void> {
    this.#drop(key)
    if (bytes.length > this.#limits.maxBytes) return
    this.#items.set(key, { bytes, note, until: Date.now() + this.#limits.ttlMs })
    this.#held += bytes.length
    for (const [oldest, { until }] of this.#items) {
      if (this.#held <= this.#limits.maxBytes && until > Date.now()) break
      this.#drop(oldest)
    }
  }

  async get(key: string): Promise<Buffer | undefined> {
    const item = this.#items.get(key)
    return item && item.until > Date.now() ? item.bytes : undefined
  }

  async delete(key: string): Promise<void> {
    this.#drop(key)
  }

  async notes(most: number): Promise<readonly TtlStoreNote[]> {
    const fresh = [...this.#items].filter(([, { until }]) => until > Date.now())
    return fresh
      .reverse()
      .slice(0, most)
      .map(([key, { note }]) => ({ key, note }))
  }

  async close(): Promise<void> {
    this.#items.clear()
    this.#held = 0
  }

  #drop(key: string): void {
    this.#held -= this.#items.get(key)?.bytes.length ?? 0
    this.#items.delete(key)
  }
}
