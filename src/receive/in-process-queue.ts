import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../base/errors.ts'
import { type Log, logAbout } from '../process/log.ts'
import {
  type Attempt,
  aboutJob,
  checkJob,
  clusterOf,
  currentDelivery,
  type Handler,
  type JobName,
  type Jobs,
  jobKey,
  type OpenQueue,
  type QueueDepth,
  queueName,
  sumDepths,
  type WorkOptions,
} from './queue.ts'
import {
  askedFor,
  backoff,
  defaultRetry,
  holderOf,
  isFinal,
  pauseOf,
  RateLimitPauses,
  type RetryPolicy,
  reportDeadJob,
  retryOf,
  shareOf,
} from './retry.ts'

/** How many jobs of one kind run side by side unless `work` sets another number. */
export const DEFAULT_CONCURRENCY = 4

/**
 * The queue of a single process, for laptops, the demo and small installations. A restart forgets what waits: the
 * sweep finds open work again.
 */
export class InProcessQueue implements OpenQueue {
  readonly #lanes = new Map<string, Lane>()
  readonly #repeats = new Map<string, NodeJS.Timeout>()
  readonly #pauses = new RateLimitPauses()
  readonly #locks = new KeyedLock()
  readonly #retry: RetryPolicy
  readonly #log: Log
  #idlers: (() => void)[] = []
  #closing: Promise<void> | undefined
  /** Later than closing: a job that a job adds while it ends is taken, and forgotten with all that waits. */
  #closed = false

  constructor(log: Log, retry: RetryPolicy = defaultRetry) {
    this.#log = log
    this.#retry = retry
  }

  async add<N extends JobName>(name: N, data: Jobs[N], options: { readonly delayMs?: number } = {}): Promise<void> {
    if (this.#closed) throw closed()
    const job = checkJob(name, data)
    this.#lane(name, clusterOf(name, job)).add(jobKey(name, job), job, options.delayMs ?? 0)
  }

  work<N extends JobName>(name: N, handler: Handler<N>, options: WorkOptions<N> = {}): void {
    this.#refuseWhenClosed()
    const lane = this.#lane(name, options.cluster)
    if (lane.taken)
      throw new BailiwickError('internal', `queue ${queueName(name, options.cluster)}: already has a handler`)
    lane.work({
      handler: (data, attempt) => handler(data as Jobs[N], attempt),
      dead: reportDeadJob(options.dead, this.#log),
      concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    })
  }

  /** The first `add` happens at once. */
  async repeat<N extends JobName>(name: N, data: Jobs[N], everyMs: number): Promise<void> {
    this.#refuseWhenClosed()
    await this.add(name, data)
    const key = jobKey(name, data)
    clearInterval(this.#repeats.get(key))
    this.#repeats.set(
      key,
      setInterval(() => void this.add(name, data), everyMs),
    )
  }

  withLock<T>(key: string, work: (entry: number) => Promise<T>): Promise<T> {
    return this.#locks.withLock(key, work)
  }

  async entries(key: string): Promise<number> {
    return this.#locks.entries(key)
  }

  async idle(): Promise<void> {
    while (![...this.#lanes.values()].every(lane => lane.quiet)) {
      await new Promise<void>(resolve => this.#idlers.push(resolve))
    }
  }

  async ping(): Promise<void> {
    this.#refuseWhenClosed()
  }

  async depths(): Promise<readonly QueueDepth[]> {
    return sumDepths([...this.#lanes].map(([name, lane]) => [name, lane.depth]))
  }

  close(graceMs = 10_000): Promise<void> {
    this.#closing ??= this.#close(graceMs)
    return this.#closing
  }

  async #close(graceMs: number): Promise<void> {
    for (const timer of this.#repeats.values()) clearInterval(timer)
    const lanes = [...this.#lanes.values()]
    const trail = this.#lanes.get('write-trail')
    for (const lane of lanes) if (lane !== trail) lane.stop()
    const running = lanes.flatMap(lane => lane.running)
    // decisions that no one will make again are written now, those of the running jobs, too
    const done = Promise.all(running.map(job => job.done)).then(() => trail?.finish())
    const grace = new AbortController()
    const late = sleep(graceMs, 'late' as const, { signal: grace.signal }).catch(() => undefined)
    if ((await Promise.race([done, late])) === 'late') for (const lane of lanes) lane.abort(closed())
    grace.abort()
    this.#closed = true
    for (const lane of lanes) lane.stop()
    this.#wake()
  }

  #lane(name: JobName, cluster: string | undefined): Lane {
    const id = queueName(name, cluster)
    const lane = this.#lanes.get(id) ?? this.#newLane(name)
    this.#lanes.set(id, lane)
    return lane
  }

  #newLane(name: JobName): Lane {
    const retry = retryOf(name, this.#retry)
    return new Lane({ name, retry, log: this.#log, pauses: this.#pauses, onQuiet: () => this.#wake() })
  }

  #wake(): void {
    const idlers = this.#idlers
    this.#idlers = []
    for (const resolve of idlers) resolve()
  }

  #refuseWhenClosed(): void {
    if (this.#closing) throw closed()
  }
}

/** The error of a closed queue, also the abort reason of its running jobs. */
export function closed(): BailiwickError {
  return new BailiwickError('queue-unavailable', 'the queue is closed: this process is stopping')
}

/** What a lane shares with the others of its queue. */
interface LaneSettings {
  readonly name: JobName
  readonly retry: RetryPolicy
  readonly log: Log
  readonly pauses: RateLimitPauses
  readonly onQuiet: () => void
}

/** Who does the jobs of a lane, and how many at once. */
interface LaneWork {
  readonly handler: LaneHandler
  /** Called with each job that is over without success. */
  readonly dead: (data: object, error: unknown) => Promise<void>
  readonly concurrency: number
}

/** One queue of the in-process store. It runs one job per key at a time and keeps at most two of a key. */
class Lane {
  readonly #settings: LaneSettings
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<string, Running>()
  readonly #turns = new Turns()
  #work: LaneWork | undefined
  #open = true

  constructor(settings: LaneSettings) {
    this.#settings = settings
  }

  get quiet(): boolean {
    return this.#waiting.size === 0 && this.#running.size === 0
  }

  /** Cuts off what still runs when the process stops. */
  abort(reason: Error): void {
    for (const { abort, job } of this.#running.values()) {
      if (abort.signal.aborted) continue
      this.#settings.log.warn(
        this.#about(job),
        'job cut off, because this process stops; the next start finds its work again',
      )
      abort.abort(reason)
    }
  }

  #about({ data, number, delivery }: Waiting) {
    return aboutJob(this.#settings.name, data, { number, delivery })
  }

  get running(): readonly Running[] {
    return [...this.#running.values()]
  }

  get depth(): { readonly waiting: number; readonly active: number; readonly delayed: number } {
    const delayed = [...this.#waiting.values()].filter(({ timer }) => timer !== undefined).length
    return { waiting: this.#waiting.size - delayed, active: this.#running.size, delayed }
  }

  /** Whether a handler was given already; one lane has one. */
  get taken(): boolean {
    return this.#work !== undefined
  }

  work(work: LaneWork): void {
    this.#work = work
    this.#start()
  }

  add(key: string, data: object, delayMs: number): void {
    const running = this.#running.get(key)
    const next = { data, delivery: currentDelivery() }
    if (running) running.next = { ...next, delayMs }
    else this.#wait(key, next, 1, delayMs)
  }

  /** Lets go of what waits; what runs goes on. */
  stop(): void {
    this.#open = false
    for (const waiting of this.#waiting.values()) clearTimeout(waiting.timer)
    this.#waiting.clear()
  }

  /** Does what waits, at once, then stops. */
  async finish(): Promise<void> {
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer)
      waiting.timer = undefined
    }
    this.#start()
    this.stop()
    await Promise.all(this.running.map(({ done }) => done))
  }

  #wait(key: string, job: Stored, number: number, delayMs: number, addedAt = Date.now()): void {
    const before = this.#waiting.get(key)
    // A job that is due already stays due: a stream of equal events must not push it ahead for ever.
    const isDue = before !== undefined && before.timer === undefined
    clearTimeout(before?.timer)
    const { data, delivery } = job
    const waiting: Waiting = { data, delivery, number, timer: undefined, addedAt }
    if (delayMs > 0 && !isDue && this.#open) this.#rest(waiting, delayMs)
    this.#waiting.set(key, waiting)
    this.#start()
  }

  #rest(waiting: Waiting, ms: number): void {
    waiting.timer = setTimeout(() => {
      waiting.timer = undefined
      this.#start()
    }, ms)
  }

  #start(): void {
    const work = this.#work
    while (work && this.#open && this.#running.size < work.concurrency) {
      const next = this.#next()
      if (!next) return
      const [key, waiting] = next
      this.#waiting.delete(key)
      const running: Running = { job: waiting, abort: new AbortController(), next: undefined, done: Promise.resolve() }
      this.#running.set(key, running)
      running.done = this.#run(work, key, waiting, running)
    }
  }

  /** The job whose turn it is, of those that are due and whose installation does not rest. */
  #next(): [string, Waiting] | undefined {
    const due = new Map<string, Waiting>()
    for (const [key, waiting] of this.#waiting) {
      if (waiting.timer !== undefined) continue
      const left = this.#settings.pauses.left(holderOf(waiting.data))
      if (left > 0) this.#rest(waiting, left)
      else due.set(key, waiting)
    }
    const key = this.#turns.take([...due].map(([name, { data }]) => ({ name, share: shareOf(data) })))
    const waiting = key === undefined ? undefined : due.get(key)
    return key === undefined || waiting === undefined ? undefined : [key, waiting]
  }

  async #run({ handler, dead }: LaneWork, key: string, job: Waiting, running: Running): Promise<void> {
    const { retry, log, pauses } = this.#settings
    const lastAttempt = job.number >= retry.attempts
    let again: { readonly number: number; readonly delayMs: number } | undefined
    try {
      const { data, number, addedAt, delivery } = job
      const attempt = { number, lastAttempt, signal: running.abort.signal, addedAt, delivery }
      await logAbout(this.#about(job), () => handler(data, attempt))
    } catch (err) {
      const pause = pauseOf(err)
      if (pause !== undefined) pauses.pause(holderOf(job.data), pause)
      if (pause !== undefined) again = { number: job.number, delayMs: pause }
      else if (!lastAttempt && !isFinal(err)) {
        again = { number: job.number + 1, delayMs: Math.max(backoff(retry, job.number), askedFor(err)) }
      }
      log.warn({ ...this.#about(job), again: again !== undefined, err }, 'job attempt failed')
      if (!again && this.#open) await dead(job.data, err)
    }
    this.#running.delete(key)
    if (this.#open && running.next) this.#wait(key, running.next, 1, running.next.delayMs)
    else if (this.#open && again) this.#wait(key, job, again.number, again.delayMs, job.addedAt)
    this.#start()
    if (this.quiet) this.#settings.onQuiet()
  }
}

type LaneHandler = (data: object, attempt: Attempt) => Promise<void>

interface Stored {
  readonly data: object
  /** The webhook that it is for. */
  readonly delivery: string | undefined
}

interface Waiting extends Stored {
  readonly number: number
  readonly addedAt: number
  timer: NodeJS.Timeout | undefined
}

interface Running {
  readonly job: Waiting
  readonly abort: AbortController
  next: (Stored & { readonly delayMs: number }) | undefined
  done: Promise<void>
}

/** A job that could start now, and whose share of the workers it would use; without one it waits for none. */
interface Candidate {
  readonly name: string
  readonly share: string | undefined
}

/** Takes turns between shares: who floods waits for himself, and everybody else for one job of his. */
class Turns {
  readonly #taken = new Map<string, number>()
  #count = 0

  /** The name of the candidate whose share went without a turn for longest; of several, the first. */
  take(candidates: readonly Candidate[]): string | undefined {
    let [best, least]: [Candidate | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
    for (const candidate of candidates) {
      const turn = candidate.share === undefined ? 0 : (this.#taken.get(candidate.share) ?? 0)
      if (turn < least) [best, least] = [candidate, turn]
    }
    if (best?.share !== undefined) this.#note(best.share, candidates)
    return best?.name
  }

  #note(share: string, candidates: readonly Candidate[]): void {
    this.#taken.set(share, ++this.#count)
    if (this.#taken.size <= candidates.length + 1_000) return
    const waiting = new Set(candidates.map(candidate => candidate.share))
    for (const known of this.#taken.keys()) if (!waiting.has(known)) this.#taken.delete(known)
  }
}

/** So many keys are remembered; a forgotten key is counted anew. */
const MOST = 10_000

/** A keyed lock within one process. */
class KeyedLock {
  readonly #tails = new Map<string, Promise<unknown>>()
  readonly #entries = new Map<string, number>()

  entries(key: string): number {
    return this.#entries.get(key) ?? 0
  }

  async withLock<T>(key: string, work: (entry: number) => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const run = (before ?? Promise.resolve()).then(() => work(this.#count(key)))
    const tail = run.catch(() => undefined) // the caller gets the error, the next in line does not
    this.#tails.set(key, tail)
    try {
      return await run
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key)
    }
  }

  #count(key: string): number {
    const entry = this.entries(key) + 1
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MOST && oldest !== undefined) this.#entries.delete(oldest)
    return entry
  }
}
