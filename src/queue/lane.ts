import type { Log } from '../process/log.ts'
import type { Attempt } from './queue.ts'
import { backoff, isFinal, type RetryPolicy } from './retry.ts'

/** One queue of the in-process store. It never runs two jobs of one key at once and never holds more than two of it. */
export class Lane {
  readonly #retry: RetryPolicy
  readonly #log: Log
  readonly #onQuiet: () => void
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<string, Running>()
  #handler: LaneHandler | undefined
  #concurrency = 1
  #open = true

  constructor(retry: RetryPolicy, log: Log, onQuiet: () => void) {
    this.#retry = retry
    this.#log = log
    this.#onQuiet = onQuiet
  }

  get quiet(): boolean {
    return this.#waiting.size === 0 && this.#running.size === 0
  }

  get running(): readonly Running[] {
    return [...this.#running.values()]
  }

  /** Whether a handler was given already; one lane has one. */
  get taken(): boolean {
    return this.#handler !== undefined
  }

  work(handler: LaneHandler, concurrency: number): void {
    this.#handler = handler
    this.#concurrency = concurrency
    this.#start()
  }

  add(key: string, data: object, delayMs: number): void {
    const running = this.#running.get(key)
    if (running) running.next = { data, delayMs }
    else this.#wait(key, data, 1, delayMs)
  }

  /** Lets go of what waits; what runs goes on. */
  stop(): void {
    this.#open = false
    for (const waiting of this.#waiting.values()) clearTimeout(waiting.timer)
    this.#waiting.clear()
  }

  #wait(key: string, data: object, number: number, delayMs: number): void {
    const before = this.#waiting.get(key)
    // A job that is due already stays due: a stream of equal events must not push it ahead for ever.
    const isDue = before !== undefined && before.timer === undefined
    clearTimeout(before?.timer)
    const waiting: Waiting = { data, number, timer: undefined }
    if (delayMs > 0 && !isDue) waiting.timer = setTimeout(() => this.#due(waiting), delayMs)
    this.#waiting.set(key, waiting)
    this.#start()
  }

  #due(waiting: Waiting): void {
    waiting.timer = undefined
    this.#start()
  }

  #start(): void {
    if (!this.#handler || !this.#open) return
    for (const [key, waiting] of this.#waiting) {
      if (this.#running.size >= this.#concurrency) return
      if (waiting.timer !== undefined) continue
      this.#waiting.delete(key)
      const abort = new AbortController()
      const running: Running = { abort, next: undefined, done: Promise.resolve() }
      this.#running.set(key, running)
      running.done = this.#run(this.#handler, key, waiting, running)
    }
  }

  async #run(handler: LaneHandler, key: string, job: Waiting, running: Running): Promise<void> {
    const lastAttempt = job.number >= this.#retry.attempts
    let again = false
    try {
      await handler(job.data, { number: job.number, lastAttempt, signal: running.abort.signal })
    } catch (err) {
      again = !lastAttempt && !isFinal(err)
      this.#log.warn({ key, attempt: job.number, again, err }, 'a job failed')
    }
    this.#running.delete(key)
    if (this.#open && running.next) this.#wait(key, running.next.data, 1, running.next.delayMs)
    else if (this.#open && again) this.#wait(key, job.data, job.number + 1, backoff(this.#retry, job.number))
    this.#start()
    if (this.quiet) this.#onQuiet()
  }
}

export type LaneHandler = (data: object, attempt: Attempt) => Promise<void>

interface Waiting {
  readonly data: object
  readonly number: number
  timer: NodeJS.Timeout | undefined
}

interface Running {
  readonly abort: AbortController
  next: { readonly data: object; readonly delayMs: number } | undefined
  done: Promise<void>
}
