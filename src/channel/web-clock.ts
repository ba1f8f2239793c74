import type { ApplyResults } from './apply-results.ts'

/** A smaller difference can be the time that the answer took on the network. */
const TOLERATED_MS = 5_000

/**
 * How far this machine's clock is from the web process's, by the Date of its answers. It stays the same until the clocks move
 * against each other, so that the same moment always gets the same time.
 */
export class WebClock {
  readonly #now: () => number
  #aheadMs = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The Date of an answer that came just now. */
  heard(date: string | null): void {
    const there = Date.parse(date ?? '')
    if (Number.isNaN(there)) return
    const aheadMs = there - this.#now()
    if (Math.abs(aheadMs - this.#aheadMs) > TOLERATED_MS) this.#aheadMs = Math.abs(aheadMs) > TOLERATED_MS ? aheadMs : 0
  }

  /** An ISO time of the web process as this machine's clock shows it. */
  here(at: string): string {
    return shifted(at, -this.#aheadMs)
  }

  /** Results with the times of the web process. */
  toWeb(results: ApplyResults): ApplyResults {
    const there = (at: string) => shifted(at, this.#aheadMs)
    return {
      ...results,
      retries: results.retries.map(one => ({ ...one, at: there(one.at) })),
      drift: results.drift.map(one => ({ ...one, first: there(one.first), last: there(one.last) })),
    }
  }
}

function shifted(at: string, byMs: number): string {
  return byMs === 0 ? at : new Date(Date.parse(at) + byMs).toISOString()
}
