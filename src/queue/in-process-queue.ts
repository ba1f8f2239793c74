import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../errors.ts'
import type { Log } from '../process/log.ts'
import { checkJob } from './check-job.ts'
import { clusterOf, jobKey, queueName } from './job-key.ts'
import { KeyedLock } from './keyed-lock.ts'
import { Lane } from './lane.ts'
import type { Handler, JobName, Jobs, OpenQueue, QueueDepth, WorkOptions } from './queue.ts'
import { RateLimitPauses } from './rate-limit-pauses.ts'
import { reportDeadJob } from './report-dead-job.ts'
import { defaultRetry, type RetryPolicy, retryOf } from './retry.ts'
import { sumDepths } from './sum-depths.ts'

/** How many jobs of one kind run side by side unless `work` says otherwise. */
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
  /** Later than closing: what a job asks for while it ends is taken, and forgotten with all that waits. */
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
    for (const lane of lanes) lane.stop()
    const running = lanes.flatMap(lane => lane.running)
    const done = Promise.all(running.map(job => job.done))
    const grace = new AbortController()
    const late = sleep(graceMs, 'late' as const, { signal: grace.signal }).catch(() => undefined)
    if ((await Promise.race([done, late])) === 'late') for (const job of running) job.abort.abort(closed())
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
    return new Lane({ retry, log: this.#log, pauses: this.#pauses, onQuiet: () => this.#wake() })
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
