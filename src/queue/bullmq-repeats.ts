import { type Queue as BullQueue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import type { Log } from '../process/log.ts'
import { jobKey } from './job-key.ts'
import type { JobName, Jobs } from './queue.ts'

/** What repeats need of the queue that they belong to. */
interface BullmqRepeatsSettings {
  readonly queue: () => BullQueue
  readonly connection: () => Redis
  readonly prefix: string
  readonly log: Log
  readonly add: <N extends JobName>(name: N, data: Jobs[N]) => Promise<void>
}

/** How soon a Redis that lost its data is noticed, however seldom its repeats tick. */
const GUARD_MS = 30_000

/**
 * Repeated jobs: each tick of a separate queue adds the real job, so that repeated and other jobs coalesce. A repeat
 * ticks once per interval, however many processes add it, and is restored if Redis loses its data.
 */
export class BullmqRepeats {
  readonly #settings: BullmqRepeatsSettings
  readonly #guards = new Map<string, NodeJS.Timeout>()
  #worker: Worker | undefined

  constructor(settings: BullmqRepeatsSettings) {
    this.#settings = settings
  }

  async start<N extends JobName>(name: N, data: Jobs[N], everyMs: number): Promise<void> {
    this.#worker ??= this.#work()
    const key = jobKey(name, data)
    clearInterval(this.#guards.get(key))
    const guard = setInterval(() => this.#restore(name, data, everyMs), Math.min(Math.max(everyMs, 1_000), GUARD_MS))
    this.#guards.set(key, guard)
    await this.#schedule(name, data, everyMs)
  }

  async close(): Promise<void> {
    for (const guard of this.#guards.values()) clearInterval(guard)
    await this.#worker?.close()
  }

  async #schedule<N extends JobName>(name: N, data: Jobs[N], everyMs: number): Promise<void> {
    const opts = { removeOnComplete: true, removeOnFail: 100 }
    await this.#settings.queue().upsertJobScheduler(jobKey(name, data), { every: everyMs }, { name, data, opts })
  }

  #restore<N extends JobName>(name: N, data: Jobs[N], everyMs: number): void {
    const restoring = async (): Promise<void> => {
      const known = await this.#settings.queue().getJobScheduler(jobKey(name, data))
      if (!known) await this.#schedule(name, data, everyMs)
    }
    restoring().catch(err => this.#settings.log.warn({ err }, 'repeated job could not be restored'))
  }

  #work(): Worker {
    const { connection, prefix, log, add, queue } = this.#settings
    const tick = (name: string, data: unknown): Promise<void> => add(name as JobName, data as Jobs[JobName])
    const options = { connection: connection(), prefix, runRetryDelay: 1_000, stalledInterval: 5_000 }
    const worker = new Worker(queue().name, job => tick(job.name, job.data), options)
    return worker.on('error', err => log.warn({ err }, 'connection error of the queue of repeated jobs'))
  }
}
