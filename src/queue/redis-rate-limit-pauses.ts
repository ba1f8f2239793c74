import type { Redis } from 'ioredis'

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
