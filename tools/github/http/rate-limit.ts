import type { Actor } from '../world.ts'
import { HttpError } from './http-error.ts'

const HOUR = 3_600_000

/** Requests of each caller within the hour: an installation, a person, an app as itself, all without a name together. */
export class RateLimit {
  readonly limit: number
  readonly #used = new Map<string, { count: number; reset: number }>()

  constructor(limit: number) {
    this.limit = limit
  }

  /** Counts a request. Throws 403 above the limit, where a request that is refused counts no more. */
  count(actor: Actor): void {
    const window = this.#window(actor)
    if (window.count >= this.limit) {
      const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.ceil(window.reset / 1000)) }
      throw new HttpError(403, `API rate limit exceeded for ${whom(actor)}.`, undefined, headers)
    }
    window.count++
  }

  /** Gives one back: an answer 304 is free (docs, "Best practices for using the REST API"). */
  giveBack(actor: Actor): void {
    const window = this.#window(actor)
    window.count = Math.max(window.count - 1, 0)
  }

  /** What the headers say. */
  standing(actor: Actor): { readonly limit: number; readonly used: number; readonly reset: number } {
    const { count, reset } = this.#window(actor)
    return { limit: this.limit, used: count, reset: Math.ceil(reset / 1000) }
  }

  #window(actor: Actor) {
    const key = whom(actor)
    const known = this.#used.get(key)
    if (known && known.reset > Date.now()) return known
    const fresh = { count: 0, reset: Date.now() + HOUR }
    this.#used.set(key, fresh)
    return fresh
  }
}

function whom(actor: Actor): string {
  if (actor.kind === 'user') return `user ID ${actor.user.id}`
  if (actor.kind === 'anonymous') return '127.0.0.1'
  return actor.kind === 'app' ? `app ID ${actor.app.id}` : `installation ID ${actor.installation.id}`
}
