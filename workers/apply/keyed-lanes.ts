/** Work in order for each key, and for so many keys at once. */
export class KeyedLanes {
  readonly #limit: number
  readonly #waiting = new Map<string, (() => Promise<void>)[]>()
  readonly #running = new Set<Promise<void>>()

  constructor(limit: number) {
    this.#limit = limit
  }

  add(key: string, work: () => Promise<void>): void {
    const queue = this.#waiting.get(key)
    if (queue) queue.push(work)
    else this.#waiting.set(key, [work])
    this.#start()
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Resolves when nothing of this key is left to do. */
  async idleOf(key: string): Promise<void> {
    while (this.#waiting.has(key) || this.#busy.has(key)) await (this.#busy.get(key) ?? Promise.race(this.#running))
  }

  readonly #busy = new Map<string, Promise<void>>()

  #start(): void {
    for (const [key, queue] of this.#waiting) {
      if (this.#running.size >= this.#limit) return
      if (this.#busy.has(key)) continue
      this.#waiting.delete(key)
      const run = this.#runAll(queue).finally(() => {
        this.#running.delete(run)
        this.#busy.delete(key)
        this.#start()
      })
      this.#running.add(run)
      this.#busy.set(key, run)
    }
  }

  async #runAll(queue: readonly (() => Promise<void>)[]): Promise<void> {
    for (const work of queue) await work()
  }
}
