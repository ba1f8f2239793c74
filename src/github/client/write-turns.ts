/** The least time between two writes of one installation, and between two that notify people. */
export interface Pace {
  readonly writeMs: number
  readonly notifyMs: number
}

/**
 * What GitHub asks for (docs, "Best practices for using the REST API", pause between mutative requests); three seconds
 * where people are notified is what octokit's own throttling waits.
 */
export const GITHUB_PACE: Pace = { writeMs: 1_000, notifyMs: 3_000 }

/** For a server on this machine: the same order, a hundred times as fast. */
export const LOOPBACK_PACE: Pace = { writeMs: 10, notifyMs: 30 }

/** A request that changes something. */
export interface Write {
  /** A check decides about a merge: people wait for it. */
  readonly isCheck: boolean
  readonly notifies: boolean
}

interface Waiting extends Write {
  readonly go: () => void
}

/** So many checks in a row, then one of the others: who floods checks silences nobody for ever. */
const MOST_CHECKS_IN_A_ROW = 60

/** Lets the writes of each installation go one after the other, at a pace, checks first. */
export class WriteTurns {
  readonly #pace: Pace
  readonly #lanes = new Map<string, Lane>()

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** Resolves when it is this write's turn. */
  take(installation: string, write: Write): Promise<void> {
    const lane = this.#lanes.get(installation) ?? new Lane(this.#pace)
    this.#lanes.set(installation, lane)
    return lane.take(write)
  }
}

class Lane {
  readonly #pace: Pace
  readonly #checks: Waiting[] = []
  readonly #others: Waiting[] = []
  #checksInARow = 0
  #freeAt = 0
  #notifiesAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pace: Pace) {
    this.#pace = pace
  }

  take(write: Write): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const lane = write.isCheck ? this.#checks : this.#others
    lane.push({ ...write, go: resolve })
    this.#serve()
    return promise
  }

  #serve(): void {
    clearTimeout(this.#timer)
    const now = performance.now()
    const next = now < this.#freeAt ? undefined : this.#next(now)
    if (next) {
      this.#checksInARow = next.isCheck ? this.#checksInARow + 1 : 0
      this.#freeAt = now + this.#pace.writeMs
      if (next.notifies) this.#notifiesAt = now + this.#pace.notifyMs
      next.go()
    }
    if (this.#checks.length + this.#others.length === 0) return
    const isStuck = this.#checks.length === 0 && this.#others.every(({ notifies }) => notifies)
    const at = isStuck ? Math.max(this.#freeAt, this.#notifiesAt) : this.#freeAt
    this.#timer = setTimeout(() => this.#serve(), Math.max(1, at - now))
  }

  /** Takes the one whose turn it is out of its lane. */
  #next(now: number): Waiting | undefined {
    const index = this.#others.findIndex(({ notifies }) => !notifies || now >= this.#notifiesAt)
    const othersTurn = this.#checks.length === 0 || this.#checksInARow >= MOST_CHECKS_IN_A_ROW
    if (othersTurn && index >= 0) return this.#others.splice(index, 1)[0]
    return this.#checks.shift()
  }
}
