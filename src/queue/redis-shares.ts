import type { Redis } from 'ioredis'

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
