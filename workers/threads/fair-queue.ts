const PATIENCE = 50

/** Who wants something done, and where. */
interface Turn {
  /** Those who take turns. */
  readonly owner: string
  /** What a place remembers that had it last: it goes there again if that place is free. */
  readonly home: string
  /** Begins only while nothing else runs. */
  readonly isAlone: boolean
}

interface Waiting<P> {
  readonly turn: Turn
  /** How many others began before it. */
  passed: number
  begin(place: P): void
}

/**
 * A few places, and many who wait for one. Of several places one owner never has all while others may come, and the next
 * place goes to the owner that has the fewest and was served longest ago; what begins alone comes after all others.
 */
export class FairQueue<P> {
  readonly #free: P[]
  readonly #most: number
  readonly #total: number
  readonly #waiting: Waiting<P>[] = []
  readonly #running = new Map<string, number>()
  readonly #served = new Map<string, number>()
  readonly #homes = new Map<P, string>()
  #clock = 0

  constructor(places: readonly P[]) {
    this.#free = [...places]
    this.#total = places.length
    this.#most = Math.max(1, places.length - 1)
  }

  /** What `work` gives, once it has had a place. */
  async run<T>(turn: Turn, work: (place: P) => Promise<T>): Promise<T> {
    const place = await new Promise<P>(begin => {
      this.#waiting.push({ turn, begin, passed: 0 })
      this.#dispatch()
    })
    try {
      return await work(place)
    } finally {
      const left = (this.#running.get(turn.owner) ?? 1) - 1
      if (left > 0) this.#running.set(turn.owner, left)
      else this.#running.delete(turn.owner)
      this.#free.push(place)
      this.#dispatch()
    }
  }

  #dispatch(): void {
    while (this.#free.length > 0) {
      const next = this.#next()
      if (!next) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      for (const one of this.#waiting) one.passed++
      const { owner, home } = next.turn
      const place = this.#placeFor(home)
      this.#homes.set(place, home)
      this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1)
      // whoever is not served any more is forgotten with the others
      if (this.#served.size > 10_000) this.#served.clear()
      this.#served.set(owner, ++this.#clock)
      next.begin(place)
    }
  }

  #next(): Waiting<P> | undefined {
    const isIdle = this.#free.length === this.#total
    // one that begins alone does not wait for ever: then nothing else begins before it
    const starved = this.#waiting.find(({ turn, passed }) => turn.isAlone && passed >= PATIENCE)
    if (starved) return isIdle ? starved : undefined
    let best: Waiting<P> | undefined
    for (const one of this.#waiting) {
      const { owner, isAlone } = one.turn
      if (isAlone ? !isIdle : (this.#running.get(owner) ?? 0) >= this.#most) continue
      if (!best || this.#isBefore(one, best)) best = one
    }
    return best
  }

  #isBefore({ turn: a }: Waiting<P>, { turn: b }: Waiting<P>): boolean {
    if (a.isAlone !== b.isAlone) return b.isAlone
    const [more, less] = [this.#running.get(a.owner) ?? 0, this.#running.get(b.owner) ?? 0]
    if (more !== less) return more < less
    return (this.#served.get(a.owner) ?? 0) < (this.#served.get(b.owner) ?? 0)
  }

  #placeFor(home: string): P {
    const known = this.#free.findIndex(place => this.#homes.get(place) === home)
    return this.#free.splice(Math.max(0, known), 1)[0]!
  }
}
