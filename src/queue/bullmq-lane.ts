import { type Job, UnrecoverableError, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '../process/log.ts'
import { type LockTimes, workerOptions } from './bullmq-settings.ts'
import type { Attempt } from './queue.ts'
import { isFinal } from './retry.ts'

/** What a lane needs to work: where, how, and what to do with a job. */
export interface BullmqLaneSettings {
  readonly connection: Redis
  readonly prefix: string
  readonly queue: string
  readonly concurrency: number
  readonly locks: LockTimes
  readonly log: Log
  readonly handler: (data: unknown, attempt: Attempt) => Promise<void>
}

/** A BullMQ worker of one queue, which knows its running jobs and can tell them to stop. */
export class BullmqLane {
  readonly #settings: BullmqLaneSettings
  readonly #worker: Worker
  readonly #running = new Map<string, AbortController>()
  #onQuiet: () => void = () => undefined

  constructor(settings: BullmqLaneSettings) {
    const { connection, prefix, queue, log } = settings
    this.#settings = settings
    const options = { ...workerOptions(settings.locks, settings.concurrency), connection, prefix }
    this.#worker = new Worker(queue, job => this.#run(job), options)
    this.#worker.on('error', err => log.warn({ queue, err }, 'the queue has trouble'))
    this.#worker.on('stalled', job => log.warn({ queue, job }, 'a worker went away during a job; it runs again'))
    this.#worker.on('failed', (job, err) =>
      log.warn({ queue, job: job?.id, attempt: job?.attemptsMade, err }, 'a job failed'),
    )
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
    while (this.#running.size > 0) {
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

  async #run(job: Job): Promise<void> {
    const id = job.id ?? ''
    const controller = new AbortController()
    this.#running.set(id, controller)
    try {
      await this.#settings.handler(job.data, attemptOf(job, controller.signal))
    } catch (error) {
      if (isFinal(error)) throw new UnrecoverableError(error instanceof Error ? error.message : String(error))
      throw error
    } finally {
      this.#running.delete(id)
      if (this.#running.size === 0) this.#onQuiet()
    }
  }
}

function attemptOf(job: Job, signal: AbortSignal): Attempt {
  const number = job.attemptsMade + 1
  return { number, lastAttempt: number >= (job.opts.attempts ?? 1), signal }
}
