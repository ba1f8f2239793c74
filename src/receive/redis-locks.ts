import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from '../process/log.ts'
import { within } from './retry.ts'

/** A process that dies inside keeps the others out that long. */
const LOCK_MS = 3_000
/** A holder that stays inside longer is joined: a write may wait long for its turn. */
const PATIENCE_MS = 15_000
const LOOK_MS = 40
/** A Redis that takes a connection may still answer nothing. */
const ANSWER_MS = 2_000
const COUNTED_SECONDS = 86_400
/** Only what we locked ourselves: https://redis.io/docs/latest/commands/set/#patterns */
const RENEW = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end`
const UNLOCK = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end`

/**
 * A keyed lock for all processes on one Redis. It only avoids duplicate work: without Redis, or after a long wait, the
 * work runs without the lock.
 */
export class RedisKeyedLock {
  readonly #redis: Redis
  readonly #prefix: string
  readonly #log: Log

  constructor(redis: Redis, prefix: string, log: Log) {
    this.#redis = redis
    this.#prefix = prefix
    this.#log = log
  }

  async entries(key: string): Promise<number> {
    return this.#unlessAway(async () => Number((await this.#redis.get(this.#counter(key))) ?? 0))
  }

  async withLock<T>(key: string, work: (entry: number) => Promise<T>): Promise<T> {
    const token = randomUUID()
    const entry = await this.#unlessAway(() => this.#enter(key, token), PATIENCE_MS + ANSWER_MS)
    const renewal = setInterval(() => {
      void this.#unlessAway(async () => Number(await this.#redis.eval(RENEW, 1, this.#lock(key), token, LOCK_MS)))
    }, LOCK_MS / 3).unref()
    try {
      return await work(entry)
    } finally {
      clearInterval(renewal)
      await this.#unlessAway(async () => Number(await this.#redis.eval(UNLOCK, 1, this.#lock(key), token)))
    }
  }

  async #enter(key: string, token: string): Promise<number> {
    const end = performance.now() + PATIENCE_MS
    while ((await this.#redis.set(this.#lock(key), token, 'PX', LOCK_MS, 'NX')) === null) {
      if (performance.now() > end) break
      await sleep(LOOK_MS)
    }
    const counter = this.#counter(key)
    const answers = await this.#redis.multi().incr(counter).expire(counter, COUNTED_SECONDS).exec()
    return Number(answers?.[0]?.[1])
  }

  async #unlessAway(ask: () => Promise<number>, limitMs = ANSWER_MS): Promise<number> {
    try {
      const answer = await within(limitMs, ask())
      if (answer !== 'late') return answer
      this.#log.warn({ limitMs }, 'keyed lock skipped: Redis did not answer in time')
      return Number.NaN
    } catch (err) {
      this.#log.warn({ err }, 'keyed lock skipped: Redis is not available')
      return Number.NaN
    }
  }

  #lock(key: string): string {
    return `${this.#prefix}:alone:${key}`
  }

  #counter(key: string): string {
    return `${this.#prefix}:entries:${key}`
  }
}

/** The rate-limit pauses of installations, shared by all processes on one Redis. Redis expires each of them. */
export class RedisRateLimitPauses {
  readonly #redis: () => Redis
  readonly #prefix: string

  constructor(redis: () => Redis, prefix: string) {
    this.#redis = redis
    this.#prefix = prefix
  }

  /** Pauses an installation; a longer pause that it already has stays. */
  async pause(holder: string | undefined, ms: number): Promise<void> {
    if (holder === undefined || (await this.left(holder)) >= ms) return
    await this.#redis().set(this.#key(holder), '1', 'PX', Math.ceil(ms))
  }

  /** How long the pause still lasts, in ms; 0 without one. */
  async left(holder: string | undefined): Promise<number> {
    return holder === undefined ? 0 : Math.max(0, await this.#redis().pttl(this.#key(holder)))
  }

  #key(holder: string): string {
    return `${this.#prefix}:rests:${holder}`
  }
}

const WINDOW_SECONDS = 60
/** BullMQ's largest priority is 2 ** 21. */
const LAST = 1_000_000

/**
 * Job priorities for fair sharing: the nth job of a repository within a minute comes after the first n - 1 of every
 * other repository, so a flood delays only its own repository. (BullMQ has groups only in its paid edition.)
 */
export class RedisShares {
  readonly #redis: Redis
  readonly #prefix: string

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis
    this.#prefix = prefix
  }

  /** The priority of one more job: 1 is the first to go. */
  async next(queue: string, share: string): Promise<number> {
    const minute = Math.floor(Date.now() / 1000 / WINDOW_SECONDS)
    const key = `${this.#prefix}:share:${queue}:${minute}:${share}`
    const answers = await this.#redis.multi().incr(key).expire(key, WINDOW_SECONDS).exec()
    const [error, count] = answers?.[0] ?? [new Error('Redis returned no count')]
    if (error) throw error
    return Math.min(LAST, Number(count))
  }
}
