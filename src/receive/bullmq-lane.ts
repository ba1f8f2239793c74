import {
  DelayedError,
  type Job,
  type JobsOptions,
  type MinimalJob,
  UnrecoverableError,
  Worker,
  type WorkerOptions,
} from 'bullmq'
import { Redis } from 'ioredis'
import { type Log, type LoggedWork, logAbout } from '../process/log.ts'
import { type Attempt, deliveryId } from './queue.ts'
import type { RedisRateLimitPauses } from './redis-locks.ts'
import { askedFor, backoff, holderOf, isFinal, pauseOf, type RetryPolicy } from './retry.ts'

/** What a lane needs to work: where, how, and what to do with a job. */
interface BullmqLaneSettings {
  readonly connection: Redis
  readonly prefix: string
  readonly queue: string
  readonly concurrency: number
  readonly locks: LockTimes
  readonly log: Log
  readonly pauses: RedisRateLimitPauses
  readonly handler: (data: unknown, attempt: Attempt) => Promise<void>
  /** How log lines name a job. */
  readonly about: (data: unknown, attempt: Pick<Attempt, 'number' | 'delivery'>) => LoggedWork
  /** Called with each job that is over without success. */
  readonly dead: (data: object, error: unknown) => Promise<void>
}

/** What rests does not come back all at once. */
const SPREAD_MS = 1_000

/** A BullMQ worker of one queue; it can stop its running jobs. */
export class BullmqLane {
  readonly #settings: BullmqLaneSettings
  readonly #worker: Worker
  readonly #running = new Map<string, { readonly controller: AbortController; readonly about: LoggedWork }>()
  readonly #burials = new Set<Promise<void>>()
  #onQuiet: () => void = () => undefined

  constructor(settings: BullmqLaneSettings) {
    const { connection, prefix, queue, log } = settings
    this.#settings = settings
    const options = { ...workerOptions(settings.locks, settings.concurrency), connection, prefix }
    this.#worker = new Worker(queue, (job, token) => this.#run(job, token), options)
    this.#worker.on('error', err => log.warn({ queue, err }, 'queue connection error'))
    this.#worker.on('stalled', job => log.warn({ queue, job }, 'job stalled because its worker stopped; it runs again'))
    this.#worker.on('failed', (job, err) => {
      // counted already, while a job that runs counts from its next attempt on
      const about = job === undefined ? {} : this.#about(job, job.attemptsMade)
      log.warn({ queue, ...about, again: job?.finishedOn === undefined, err }, 'job attempt failed')
      if (job?.finishedOn !== undefined) this.#bury(job, err)
    })
    // Without its lock a job may be running elsewhere already: it must not write any more.
    this.#worker.on('lockRenewalFailed', ids => {
      for (const id of ids) this.#running.get(id)?.controller.abort(new Error('the lock of this job was lost'))
    })
  }

  /** Takes no more jobs. */
  async pause(): Promise<void> {
    await this.#worker.pause(true)
  }

  /** Resolves when no job of this process runs. */
  async quiet(): Promise<void> {
    while (!this.#isQuiet) {
      await new Promise<void>(resolve => {
        this.#onQuiet = resolve
      })
    }
  }

  /** Cuts off what still runs when the process stops. */
  abort(reason: Error): void {
    for (const { controller, about } of this.#running.values()) {
      this.#settings.log.warn(about, 'job cut off, because this process stops; it runs again')
      controller.abort(reason)
    }
  }

  /** Lets go of Redis; a job that still runs is left to the stall check of others. */
  async close(): Promise<void> {
    await this.#worker.close(this.#running.size > 0)
  }

  async #run(job: Job, token: string | undefined): Promise<void> {
    const holder = holderOf(Object(job.data))
    const id = job.id ?? ''
    const controller = new AbortController()
    const attempt = attemptOf(job, controller.signal)
    const about = this.#about(job, attempt.number)
    // before anything is waited for: a stop waits for this job as well
    this.#running.set(id, { controller, about })
    try {
      const left = await this.#settings.pauses.left(holder)
      if (left > 0) return await this.#rest(job, token, left)
      await logAbout(about, () => this.#settings.handler(job.data, attempt))
    } catch (error) {
      const pause = pauseOf(error)
      if (pause !== undefined) {
        this.#settings.log.warn({ ...about, err: error }, 'job waits for a rate limit')
        await this.#settings.pauses.pause(holder, pause)
        await this.#rest(job, token, pause)
      }
      if (isFinal(error)) throw unrecoverable(error)
      throw error
    } finally {
      this.#running.delete(id)
      this.#sayQuiet()
    }
  }

  #about(job: Job, number: number): LoggedWork {
    try {
      return this.#settings.about(job.data, { number, delivery: deliveryId(Object(job.data).delivery) })
    } catch {
      return { queue: this.#worker.name, key: job.id, attempt: number } // its handler refuses these data
    }
  }

  /** Puts the job back without using up an attempt; throws what signals BullMQ to do so. */
  async #rest(job: Job, token: string | undefined, ms: number): Promise<never> {
    await job.moveToDelayed(Date.now() + ms + Math.random() * Math.min(ms, SPREAD_MS), token)
    throw new DelayedError()
  }

  #bury(job: Job, failure: Error): void {
    const burial = this.#settings.dead(Object(job.data), failure.cause ?? failure).finally(() => {
      this.#burials.delete(burial)
      this.#sayQuiet()
    })
    this.#burials.add(burial)
  }

  #sayQuiet(): void {
    if (this.#isQuiet) this.#onQuiet()
  }

  get #isQuiet(): boolean {
    return this.#running.size === 0 && this.#burials.size === 0
  }
}

function unrecoverable(error: unknown): UnrecoverableError {
  const message = error instanceof Error ? error.message : String(error)
  return Object.assign(new UnrecoverableError(message), { cause: error })
}

function attemptOf(job: Job, signal: AbortSignal): Attempt {
  const number = job.attemptsMade + 1
  return {
    number,
    lastAttempt: number >= (job.opts.attempts ?? 1),
    signal,
    addedAt: job.timestamp,
    delivery: deliveryId(Object(job.data).delivery),
  }
}

/** How long a worker may be unresponsive before its job is taken over, and how often that is checked. */
export interface LockTimes {
  readonly lockMs: number
  readonly stalledMs: number
}

/** The lock times for `lockMs`: the job of a killed worker runs again within that time and 5 s. */
export function lockTimes(lockMs: number): LockTimes {
  return { lockMs, stalledMs: Math.min(5_000, Math.ceil(lockMs / 2)) }
}

export const defaultLocks: LockTimes = lockTimes(30_000)

/**
 * A job's options. `keepLastIfActive` with `replace` is the one way of BullMQ to have one waiting and one running job
 * per key and lose nothing: https://docs.bullmq.io/guide/jobs/deduplication
 */
export function jobOptions(key: string, retry: RetryPolicy, delayMs: number, priority: number): JobsOptions {
  return {
    attempts: retry.attempts,
    // a type of our own: how long depends on the error, see workerOptions
    backoff: { type: 'asked', delay: retry.backoffMs },
    deduplication: { id: key, keepLastIfActive: true, replace: true },
    removeOnComplete: { count: 1_000, age: 86_400 },
    removeOnFail: { count: 1_000, age: 604_800 },
    ...(delayMs > 0 ? { delay: delayMs } : {}),
    ...(priority > 0 ? { priority } : {}),
  }
}

/** A worker's options. A stall does not count as an attempt, so a job that kills its worker ends after three of them. */
function workerOptions(locks: LockTimes, concurrency: number): Omit<WorkerOptions, 'connection'> {
  return {
    concurrency,
    lockDuration: locks.lockMs,
    stalledInterval: locks.stalledMs,
    maxStalledCount: 3,
    runRetryDelay: 1_000,
    settings: { backoffStrategy: restOf },
  }
}

function restOf(attemptsMade: number, _type?: string, error?: Error, job?: MinimalJob): number {
  const { backoff: rest } = job?.opts ?? {}
  const backoffMs = typeof rest === 'object' ? (rest.delay ?? 0) : 0
  return Math.max(backoff({ attempts: 0, backoffMs }, attemptsMade), askedFor(error))
}

/** A connection to add jobs with: a command fails when Redis is gone, instead of waiting for its return. */
export function producerConnection(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: 1, connectTimeout: 2_000 })
}

/** A connection to work with; BullMQ requires that its blocking commands wait for ever. */
export function workerConnection(url: string): Redis {
  return new Redis(url, { maxRetriesPerRequest: null, connectTimeout: 5_000 })
}
