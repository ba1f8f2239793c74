import type { TrailDecision, WrittenEnd } from '../trail/trail-entry.ts'
import { MAX_WAITING, type Outbox, placeKey, type TrailPlace, type WaitingDecisions } from './outbox.ts'

interface Waiting {
  decisions: TrailDecision[]
  lost: number
  head: WrittenEnd | undefined
  stopped: string | undefined
  readonly once: Set<string>
}

/** Number of ids to remember; the oldest are dropped. */
const MAX_ONCE = 10_000

function remember(ids: Set<string>, id: string): void {
  ids.add(id)
  const [oldest] = ids
  if (ids.size > MAX_ONCE && oldest !== undefined) ids.delete(oldest)
}

/** An outbox in the memory of this process. */
export class MemoryOutbox implements Outbox {
  readonly #places = new Map<string, Waiting>()

  async add(place: TrailPlace, decision: TrailDecision, once = false): Promise<boolean> {
    const at = this.#at(place)
    if (once && at.once.has(decision.id)) return false
    if (once) remember(at.once, decision.id)
    if (at.decisions.length < MAX_WAITING) at.decisions.push(decision)
    else at.lost += 1
    return true
  }

  async waiting(place: TrailPlace, most: number): Promise<WaitingDecisions> {
    const { decisions, lost } = this.#at(place)
    return { decisions: decisions.slice(0, most), lost }
  }

  async written(place: TrailPlace, done: { count: number; lost: number; head: WrittenEnd }): Promise<void> {
    const at = this.#at(place)
    at.decisions = at.decisions.slice(done.count)
    at.lost -= done.lost
    at.head = done.head
  }

  async head(place: TrailPlace): Promise<WrittenEnd | undefined> {
    return this.#at(place).head
  }

  async stop(place: TrailPlace, incident: string | undefined): Promise<void> {
    this.#at(place).stopped = incident
  }

  async stopped(place: TrailPlace): Promise<string | undefined> {
    return this.#at(place).stopped
  }

  async close(): Promise<void> {}

  #at(place: TrailPlace): Waiting {
    const key = placeKey(place)
    const fresh = { decisions: [], lost: 0, head: undefined, stopped: undefined, once: new Set<string>() }
    const known = this.#places.get(key) ?? fresh
    this.#places.set(key, known)
    return known
  }
}
