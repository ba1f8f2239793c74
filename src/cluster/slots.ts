interface SlotSettings {
  readonly count: number
  /** What takes longer is not counted any more, so that a hanging call does not keep a slot. */
  readonly slowMs: number
  /** How many may go on uncounted. */
  readonly slow: number
}

/** A limit on how much is done at once, first come, first served. It can be lowered for a while, and recovers with success. */
export class Slots {
  readonly #settings: SlotSettings
  readonly #waiting: (() => void)[] = []
  #limit: number
  #taken = 0
  #slow = 0
  #successes = 0

  constructor(settings: SlotSettings) {
    this.#settings = settings
    this.#limit = settings.count
  }

  /** How much may be done at once at the moment. */
  get limit(): number {
    return this.#limit
  }

  /** Does `work` when it is its turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#limit && this.#waiting.length === 0) this.#taken++
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    let isSlow = false
    const timer = setTimeout(() => {
      if (this.#slow === this.#settings.slow) return
      isSlow = true
      this.#slow++
      this.#give()
    }, this.#settings.slowMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      if (isSlow) this.#slow--
      else this.#give()
    }
  }

  /** Half as much at once from now on. */
  halve(): void {
    this.#limit = Math.max(1, Math.floor(this.#limit / 2))
    this.#successes = 0
  }

  /** Something succeeded: after as many successes as are allowed at once, one more is. */
  recover(): void {
    if (this.#limit === this.#settings.count || ++this.#successes < this.#limit) return
    this.#successes = 0
    this.#limit++
    this.#start()
  }

  #give(): void {
    this.#taken--
    this.#start()
  }

  #start(): void {
    while (this.#taken < this.#limit) {
      const next = this.#waiting.shift()
      if (!next) return
      this.#taken++
      next()
    }
  }
}

/**
 * Calls `work` for every item, at most `limit` at a time. After a failure nothing more is started, what runs is waited
 * for, and the first error is thrown.
 */
export async function eachLimited<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = []
  let next = 0
  const lane = async () => {
    while (next < items.length && failures.length === 0) {
      try {
        await work(items[next++]!)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
  if (failures.length > 0) throw failures[0]
}
