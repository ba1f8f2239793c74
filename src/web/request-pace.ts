interface Pace {
  /** How many at once. */
  readonly burst: number
  /** How many a second after these. */
  readonly perSecond: number
}

/** Lets each of some clients ask so often, and no more; what one asks too much takes nothing from another. */
export class RequestPace {
  readonly #pace: Pace
  readonly #now: () => number
  readonly #clients = new Map<string, { left: number; at: number }>()

  constructor(pace: Pace, now: () => number = () => performance.now()) {
    this.#pace = pace
    this.#now = now
  }

  /** Whether this request is within the pace; it counts if it is. */
  take(client: string): boolean {
    const { burst, perSecond } = this.#pace
    const now = this.#now()
    const known = this.#clients.get(client) ?? { left: burst, at: now }
    const left = Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond)
    const isTaken = left >= 1
    this.#clients.set(client, { left: isTaken ? left - 1 : left, at: now })
    return isTaken
  }
}
