import { setTimeout as sleep } from 'node:timers/promises'
import { Queue as BullQueue, Worker } from 'bullmq'
import type { Redis } from 'ioredis'
import { BailiwickError } from '../base/errors.ts'
import type { Log } from '../process/log.ts'
import {
  BullmqLane,
  defaultLocks,
  jobOptions,
  type LockTimes,
  producerConnection,
  workerConnection,
} from './bullmq-lane.ts'
import { closed, DEFAULT_CONCURRENCY, InProcessQueue } from './in-process-queue.ts'
import {
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
import { RedisKeyedLock, RedisRateLimitPauses, RedisShares } from './redis-locks.ts'
import { defaultRetry, type RetryPolicy, reportDeadJob, retryOf, shareOf, within } from './retry.ts'

/** Where jobs are kept. Without `redisUrl` they live in this process and end with it. */
interface QueueSettings {
  readonly redisUrl?: string | undefined
  /** Keeps several installations on one Redis apart. */
  readonly prefix?: string | undefined
  readonly log: Log
  readonly retry?: RetryPolicy | undefined
  readonly locks?: LockTimes | undefined
}

/** Opens the queue that the settings select. Redis is connected in the background; if that fails, `add` throws. */
export function openQueue(settings: QueueSettings): OpenQueue {
  const { redisUrl, prefix = 'bailiwick', log, retry, locks } = settings
  if (redisUrl === undefined) return new InProcessQueue(log, retry)
  return new BullmqQueue({ redisUrl, prefix, log, retry, locks })
}

/** Settings of a queue on Redis; the times are for tests to shorten. */
interface BullmqSettings extends QueueSettings {
  readonly redisUrl: string
  readonly prefix: string
  readonly addTimeoutMs?: number | undefined
}

/**
 * The queue on Redis, shared by any number of processes. GitHub's webhook response waits for `add`, so it has a time
 * limit.
 */
class BullmqQueue implements OpenQueue {
  readonly #settings: BullmqSettings
  readonly #producer: Redis
  readonly #queues = new Map<string, BullQueue>()
  readonly #lanes = new Map<string, BullmqLane>()
  readonly #repeats: BullmqRepeats
  readonly #pauses: RedisRateLimitPauses
  readonly #shares: RedisShares
  readonly #locks: RedisKeyedLock
  #consumer: Redis | undefined
  #closing: Promise<void> | undefined
  /** Later than closing: what a running job enqueues while it ends is still stored. */
  #closed = false

  constructor(settings: BullmqSettings) {
    this.#settings = settings
    this.#producer = this.#listen(producerConnection(settings.redisUrl))
    this.#shares = new RedisShares(this.#producer, settings.prefix)
    this.#locks = new RedisKeyedLock(this.#producer, settings.prefix, settings.log)
    this.#pauses = new RedisRateLimitPauses(() => this.#workerConnection(), settings.prefix)
    this.#repeats = new BullmqRepeats({
      queue: () => this.#queue('repeats'),
      connection: () => this.#workerConnection(),
      prefix: settings.prefix,
      log: settings.log,
      add: (name, data) => this.add(name, data),
    })
  }

  async add<N extends JobName>(name: N, data: Jobs[N], options: { readonly delayMs?: number } = {}): Promise<void> {
    if (this.#closed) throw closed()
    await this.#timely(this.#add(name, checkJob(name, data), options.delayMs ?? 0))
  }

  work<N extends JobName>(name: N, handler: Handler<N>, options: WorkOptions<N> = {}): void {
    this.#refuseWhenClosed()
    const queue = queueName(name, options.cluster)
    if (this.#lanes.has(queue)) throw new BailiwickError('internal', `queue ${queue}: already has a handler`)
    const { prefix, log, locks = defaultLocks } = this.#settings
    const lane = new BullmqLane({
      connection: this.#workerConnection(),
      prefix,
      queue,
      concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
      locks,
      log,
      pauses: this.#pauses,
      handler: async (data, attempt) => handler(checkJob(name, data), attempt),
      about: (data, attempt) => aboutJob(name, data, attempt),
      dead: reportDeadJob<Jobs[N]>(
        options.dead && (async (data, error) => options.dead?.(checkJob(name, data), error)),
        log,
      ),
    })
    this.#lanes.set(queue, lane)
  }

  /** The first `add` happens at once. Kept in Redis: any process that called `repeat` for anything carries it on. */
  async repeat<N extends JobName>(name: N, data: Jobs[N], everyMs: number): Promise<void> {
    this.#refuseWhenClosed()
    await this.#timely(this.#repeats.start(name, checkJob(name, data), everyMs))
  }

  withLock<T>(key: string, work: (entry: number) => Promise<T>): Promise<T> {
    return this.#locks.withLock(key, work)
  }

  entries(key: string): Promise<number> {
    return this.#locks.entries(key)
  }

  /** About all queues of this prefix that any process added to. */
  async idle(): Promise<void> {
    // twice: while one queue is looked at, a job of it may add to one that was looked at before
    while (!this.#closing && !((await this.#isIdle()) && (await this.#isIdle()))) await sleep(25)
  }

  async ping(): Promise<void> {
    this.#refuseWhenClosed()
    await this.#timely(this.#producer.ping())
  }

  async depths(): Promise<readonly QueueDepth[]> {
    await this.ping()
    const names = await this.#producer.smembers(this.#names)
    return sumDepths(await Promise.all(names.map(async name => [name, await this.#depth(name)] as const)))
  }

  close(graceMs = 10_000): Promise<void> {
    this.#closing ??= this.#close(graceMs)
    return this.#closing
  }

  async #add<N extends JobName>(name: N, data: Jobs[N], delayMs: number): Promise<void> {
    const id = queueName(name, clusterOf(name, data))
    const share = shareOf(data)
    const [priority] = await Promise.all([
      share === undefined ? 0 : this.#shares.next(id, share),
      this.#producer.sadd(this.#names, id),
    ])
    const retry = retryOf(name, this.#settings.retry ?? defaultRetry)
    const delivery = currentDelivery()
    const stored = delivery === undefined ? data : { ...data, delivery }
    await this.#queue(id).add(name, stored, jobOptions(jobKey(name, data), retry, delayMs, priority))
  }

  async #isIdle(): Promise<boolean> {
    const names = new Set([...(await this.#producer.smembers(this.#names)), ...this.#lanes.keys()])
    for (const name of names) {
      const counts = await this.#queue(name).getJobCounts('waiting', 'prioritized', 'active', 'delayed')
      if (Object.values(counts).some(count => count > 0)) return false
    }
    return true
  }

  async #depth(name: string) {
    const counts = await this.#queue(name).getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed')
    const { waiting = 0, prioritized = 0, active = 0, delayed = 0, failed = 0 } = counts
    return { waiting: waiting + prioritized, active, delayed, failed }
  }

  async #close(graceMs: number): Promise<void> {
    const lanes = [...this.#lanes.values()]
    await Promise.all(lanes.map(lane => lane.pause()))
    const quiet = Promise.all(lanes.map(lane => lane.quiet()))
    if ((await within(graceMs, quiet)) === 'late') {
      for (const lane of lanes) lane.abort(closed())
      await within(500, quiet) // a job that follows its signal can still report that it failed, and is retried without a stall
    }
    this.#closed = true
    const ends = [...lanes, this.#repeats, ...this.#queues.values()].map(part => part.close())
    await within(2_000, Promise.allSettled(ends)) // without Redis the farewells never come back
    this.#producer.disconnect()
    this.#consumer?.disconnect()
  }

  async #timely(storing: Promise<unknown>): Promise<void> {
    const limit = this.#settings.addTimeoutMs ?? 2_000
    const outcome = await within(limit, storing).catch(cause => {
      throw unavailable('Redis rejected the connection', cause)
    })
    if (outcome === 'late') throw unavailable(`Redis did not answer within ${limit} ms`)
  }

  #queue(name: string): BullQueue {
    const known = this.#queues.get(name)
    if (known) return known
    const queue = new BullQueue(name, { connection: this.#producer, prefix: this.#settings.prefix })
    queue.on('error', err => this.#settings.log.warn({ queue: name, err }, 'queue connection error'))
    this.#queues.set(name, queue)
    return queue
  }

  #workerConnection(): Redis {
    this.#consumer ??= this.#listen(workerConnection(this.#settings.redisUrl))
    return this.#consumer
  }

  #listen(redis: Redis): Redis {
    return redis.on('error', err => this.#settings.log.warn({ err }, 'Redis connection error'))
  }

  get #names(): string {
    return `${this.#settings.prefix}:queue-names`
  }

  #refuseWhenClosed(): void {
    if (this.#closing) throw closed()
  }
}

function unavailable(what: string, cause?: unknown): BailiwickError {
  const fix = 'Check Redis and REDIS_URL.'
  return new BailiwickError('queue-unavailable', `the queue is not available: ${what}`, { fix, cause })
}

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
class BullmqRepeats {
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
