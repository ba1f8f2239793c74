/** An event as it is counted: who is concerned, and what is said. */
interface Counted {
  /** Kind, namespace, name and uid of the object. */
  readonly object: string
  readonly type: string
  readonly reason: string
  readonly message: string
}

/** What to write: a new Event, or the one that was written before with a higher count. */
interface Correlated<Written> {
  readonly message: string
  readonly count: number
  readonly earlier?: Written
}

const MAX_KEYS = 4_096
const BURST = 25
const REFILL_MS = 300_000
const SIMILAR = 10
const SIMILAR_MS = 600_000

/**
 * Limits events as the recorder of client-go does (tools/record/events_cache.go): 25 about one object and then one in 5
 * minutes; of those that differ only by message, at most 10 within 10 minutes and then one that is counted; the same
 * event again is counted. `Written`: what the caller needs to find an Event again.
 */
export class EventCorrelator<Written> {
  readonly #tokens = new Map<string, { left: number; at: number }>()
  readonly #similar = new Map<string, { messages: Set<string>; at: number }>()
  readonly #written = new Map<string, { count: number; event: Written }>()

  /** Undefined: too many, it is left out. */
  correlate(event: Counted, now: number): Correlated<Written> | undefined {
    if (!this.#mayPass(`${event.object} ${event.type}`, now)) return undefined
    const message = this.#isOneOfMany(event, now) ? `(combined from similar events): ${event.message}` : event.message
    const earlier = this.#written.get(this.#keyOf(event, message))
    return earlier ? { message, count: earlier.count + 1, earlier: earlier.event } : { message, count: 1 }
  }

  wrote(event: Counted, { message, count }: Correlated<Written>, written: Written): void {
    keep(this.#written, this.#keyOf(event, message), { count, event: written })
  }

  #keyOf({ object, type, reason }: Counted, message: string): string {
    // what is combined is one event, whatever it says last
    return JSON.stringify([object, type, reason, message.startsWith('(combined from') ? '' : message])
  }

  #mayPass(key: string, now: number): boolean {
    const known = this.#tokens.get(key) ?? { left: BURST, at: now }
    const left = Math.min(BURST, known.left + (now - known.at) / REFILL_MS)
    keep(this.#tokens, key, { left: left >= 1 ? left - 1 : left, at: now })
    return left >= 1
  }

  #isOneOfMany({ object, type, reason, message }: Counted, now: number): boolean {
    const key = JSON.stringify([object, type, reason])
    const known = this.#similar.get(key)
    const messages = known !== undefined && now - known.at <= SIMILAR_MS ? known.messages : new Set<string>()
    messages.add(message)
    const isFull = messages.size >= SIMILAR
    if (isFull) messages.delete(messages.values().next().value!)
    keep(this.#similar, key, { messages, at: now })
    return isFull
  }
}

/** The oldest goes first. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MAX_KEYS) map.delete(map.keys().next().value!)
}
