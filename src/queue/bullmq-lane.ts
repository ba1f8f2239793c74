import { DelayedError, type Job, UnrecoverableError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '../process/log.ts'
import { type LockTimes, workerOptions } from './bullmq-settings.ts'
import { holderOf, pauseOf } from './pause.ts'
import type { Attempt } from './queue.ts'
import type { RedisRateLimitPauses } from './redis-rate-limit-pauses.ts'
import { isFinal } from './retry.ts'

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
  /** Told of each job that is over without success. */
  readonly dead: (data: object, error: unknown) => Promise<void>
}

/** What rests does not come back all at once. */
const SPREAD_MS = 1_000

/** A BullMQ worker of one queue; it can stop its running jobs. */
export class BullmqLane {
  readonly #settings: BullmqLaneSettings
  readonly #worker: Worker
  readonly #running = new Map<string, AbortController>()
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
      log.warn({ queue, job: job?.id, attempt: job?.attemptsMade, err }, 'job attempt failed')
      if (job?.finishedOn !== undefined) this.#bury(job, err)
    })
    // Without its lock a job may be running elsewhere already: it must not write any more.
    this.#worker.on('lockRenewalFailed', ids => {
      for (const id of ids) this.#running.get(id)?.abort(new Error('the lock of this job was lost'))
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

  abort(reason: Error): void {
    for (const controller of this.#running.values()) controller.abort(reason)
  }

  /** Lets go of Redis; a job that still runs is left to the stall check of others. */
  async close(): Promise<void> {
    await this.#worker.close(this.#running.size > 0)
  }

  async #run(job: Job, token: string | undefined): Promise<void> {
    const holder = holderOf(Object(job.data))
    const id = job.id ?? ''
    const controller = new AbortController()
    // before anything is waited for: whoever stops waits for this job as well
    this.#running.set(id, controller)
    try {
      const left = await this.#settings.pauses.left(holder)
      if (left > 0) return await this.#rest(job, token, left)
      await this.#settings.handler(job.data, attemptOf(job, controller.signal))
    } catch (error) {
      const pause = pauseOf(error)
      if (pause !== undefined) {
        this.#settings.log.warn({ queue: this.#worker.name, job: id, err: error }, 'job waits for a rate limit')
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

  /** Puts the job back without using up an attempt; throws what tells BullMQ so. */
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
  return { number, lastAttempt: number >= (job.opts.attempts ?? 1), signal, addedAt: job.timestamp }
}
