import type { Reply } from './route.ts'

/**
 * How a request goes wrong: refused before anything was done ('500', '502', '403-retry-after': the secondary limit,
 * '429'), or done and answered 502 all the same ('written-502').
 */
export type TroubleKind = '500' | '502' | '403-retry-after' | '429' | 'written-502'

export interface TroubleOptions {
  /** Share of the requests that fail, from 0 to 1. */
  readonly rate?: number
  readonly kinds?: readonly TroubleKind[]
  /** The same seed gives the same sequence of fates. */
  readonly seed?: number
  /** Every answer is held back so long. */
  readonly latencyMs?: number
  /** How long a limit asks to wait, in seconds. */
  readonly retryAfter?: number
}

/** What one request meets. */
interface Fate {
  readonly kind: TroubleKind | undefined
  readonly latencyMs: number
}

const ALL: readonly TroubleKind[] = ['500', '502', '403-retry-after', '429', 'written-502']

/** A time in which GitHub is not well; it ends with `stop`. */
export class Trouble {
  /** How many requests were answered so. */
  failed = 0
  readonly byKind: Partial<Record<TroubleKind, number>> = {}
  readonly retryAfter: number
  readonly #options: TroubleOptions
  #state: number
  #over = false

  constructor(options: TroubleOptions) {
    this.#options = options
    this.#state = options.seed ?? 1
    this.retryAfter = options.retryAfter ?? 1
  }

  stop(): void {
    this.#over = true
  }

  /** What the next request meets; reads are never "written" and so meet a plain 502 instead. */
  next(method: string): Fate {
    const { rate = 0.05, kinds = ALL, latencyMs = 0 } = this.#options
    if (this.#over) return { kind: undefined, latencyMs: 0 }
    const [hit, which] = [this.#random(), this.#random()]
    if (hit >= rate || kinds.length === 0) return { kind: undefined, latencyMs }
    const drawn = kinds[Math.floor(which * kinds.length)]!
    const kind = drawn === 'written-502' && method === 'GET' ? '502' : drawn
    this.failed++
    this.byKind[kind] = (this.byKind[kind] ?? 0) + 1
    return { kind, latencyMs }
  }

  /** Mulberry32: small, and the same everywhere. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** What GitHub answers: https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api */
export function troubledReply(kind: TroubleKind, retryAfter: number): Reply {
  const documentation_url = 'https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api'
  if (kind === '500') return { status: 500, body: { message: 'Server Error' } }
  // the gateway in front answers, not the API: no JSON
  if (kind === '502' || kind === 'written-502') {
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    return { status: 502, body: '<html><head><title>502 Bad Gateway</title></head></html>', headers }
  }
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
  const headers = { 'retry-after': String(retryAfter) }
  return { status: kind === '429' ? 429 : 403, body: { documentation_url, message }, headers }
}
