import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Log } from '../process/log.ts'
import { within } from './within.ts'

/** Whoever dies inside keeps the others out that long. */
const LOCK_MS = 3_000
/** Whoever stays inside longer is joined: a write may wait long for its turn. */
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
