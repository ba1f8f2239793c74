import { ProbotOctokit } from 'probot'
import { BailiwickError } from '../../base/errors.ts'
import { currentWork } from '../../process/log.ts'
import { nameErrors, statusOf, TOKEN } from './github-error.ts'
import { withKnownAnswers } from './known-answers.ts'
import type { Octokit } from './octokit.ts'

interface Log {
  debug(message: string): unknown
  info(message: string): unknown
  warn(message: string): unknown
  error(message: string): unknown
}

/** How every client of ours reaches GitHub. */
export interface ClientSettings {
  /** Root of the REST API; default GitHub's own. */
  readonly baseUrl?: string
  /** How often a read is repeated after a 5xx, with 1, 4, 9 s between. Writes never are: they might have arrived. */
  readonly readRetries?: number
  /** For one request with its whole answer, archives included; default two minutes. */
  readonly timeoutMs?: number
  /** Where octokit writes; default nowhere. */
  readonly log?: Log
}

type ClientOptions = NonNullable<ConstructorParameters<typeof ProbotOctokit>[0]>

type Throttle = Extract<ClientOptions['throttle'], { onRateLimit: unknown }>

/** Requests of one installation, or of one client without, that are under way at once. */
const MOST_AT_ONCE = 10

const lanes = new Map<string, { running: number; readonly waiting: (() => void)[] }>()

async function amongTen<T>(id: string, run: () => Promise<T>): Promise<T> {
  const lane = lanes.get(id) ?? { running: 0, waiting: [] }
  lanes.set(id, lane)
  if (lane.running < MOST_AT_ONCE) lane.running++
  else await new Promise<void>(resolve => lane.waiting.push(resolve))
  try {
    return await run()
  } finally {
    const next = lane.waiting.shift()
    if (next) next()
    else if (--lane.running === 0) lanes.delete(id)
  }
}

type Run = (...args: unknown[]) => Promise<unknown>

const limited = {
  key: (id: string) => ({
    schedule: (_: unknown, run: Run, ...args: unknown[]) => amongTen(id, () => run(...args)),
  }),
}
const atOnce = {
  on: () => {},
  schedule: (run: Run, ...args: unknown[]) => run(...args),
  key: () => ({ schedule: (_: unknown, run: () => Promise<void>) => run() }),
}

/**
 * Octokit's throttling keeps to ten requests at once, counted here: its own limiters wait for 18 timers in a row for each
 * request. `paceWrites` decides when writes go, and the queue handles a rate limit: it knows when to come back and does
 * not occupy a worker meanwhile.
 */
export const LIMITS_ARE_THROWN = {
  global: limited as unknown as NonNullable<Throttle['global']>,
  retryLimiter: atOnce as unknown as NonNullable<Throttle['retryLimiter']>,
  write: atOnce as unknown as NonNullable<Throttle['write']>,
  notifications: atOnce as unknown as NonNullable<Throttle['notifications']>,
  onRateLimit: () => false,
  onSecondaryRateLimit: () => false,
}

/** The class of all clients of ours. */
export function clientClass(options: ClientSettings): typeof ProbotOctokit {
  const quiet = () => {}
  const log = options.log ?? { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const timeout = options.timeoutMs ?? 120_000
  const timedFetch = withKnownAnswers((input, init) => {
    const signals = [AbortSignal.timeout(timeout), ...(init?.signal ? [init.signal] : [])]
    return fetch(input, { ...init, signal: AbortSignal.any(signals) })
  })
  return ProbotOctokit.defaults((instance: ClientOptions) => ({
    ...instance,
    ...(options.baseUrl ? { baseUrl: options.baseUrl.replace(/\/+$/, '') } : {}),
    log,
    request: { fetch: timedFetch, log },
    throttle: { ...LIMITS_ARE_THROWN, ...instance.throttle },
    retry: { doNotRetry: [400, 401, 403, 404, 409, 410, 422, 429, 451], retries: options.readRetries ?? 1 },
  })).plugin(octokit => {
    // a POST that failed with 502 may have been done: what is written must be looked at again before it is repeated
    octokit.hook.before('request', request => {
      // a new object: the one that is there is shared by all requests
      if (request.method !== 'GET') request.request = { ...request.request, retries: 0 }
    })
    return {}
  })
}

interface TokenSource {
  /** The token to use now. */
  token(): Promise<string>
  /** GitHub does not accept it: the next one has to be another. */
  refused(token: string): void
}

interface RequestOptions {
  readonly headers: object
}

/** A client for tokens that another party made; it knows nothing of the App. */
export function openTokenClient(settings: ClientSettings, { token, refused }: TokenSource): Octokit {
  const Client = clientClass(settings)
  const send = async <O extends RequestOptions, R>(request: (options: O) => Promise<R>, options: O, value: string) =>
    request({ ...options, headers: { ...options.headers, authorization: `token ${value}` } })
  const hook = async <O extends RequestOptions, R>(request: (options: O) => Promise<R>, options: O): Promise<R> => {
    const first = await token()
    try {
      return await send(request, options, first)
    } catch (error) {
      if (statusOf(error) !== 401) throw error
      refused(first)
      return await send(request, options, await token())
    }
  }
  return nameErrors(new Client({ authStrategy: () => Object.assign(token, { hook }) }))
}

type Client = InstanceType<typeof ProbotOctokit>

/** One answer of GitHub: which request, by its template where it has one. */
export interface ObservedResponse {
  readonly method: string
  readonly url: string
  /** 0: none came. */
  readonly status: number
  readonly installation?: number
  /** What GitHub still allows of the hour's requests. */
  readonly remaining?: number
}

/** Reports each answer that a client gets. */
export function observeRequests(
  client: Client,
  tell: ((answer: ObservedResponse) => void) | undefined,
  installation?: number,
): Client {
  if (!tell) return client
  const by = installation === undefined ? {} : { installation }
  client.hook.after('request', ({ status, headers }, { method, url }) => {
    tell({ method, url, status, ...by, ...remainingOf(headers) })
  })
  client.hook.error('request', (error, { method, url }) => {
    const headers = 'response' in error ? error.response?.headers : undefined
    tell({ method, url, status: statusOf(error) ?? 0, ...by, ...remainingOf(headers ?? {}) })
    throw error
  })
  return client
}

function remainingOf(headers: object): { readonly remaining?: number } {
  const remaining = Number(new Map(Object.entries(headers)).get('x-ratelimit-remaining') ?? Number.NaN)
  return Number.isInteger(remaining) ? { remaining } : {}
}

/** Where what is posted notifies people: issues, pull requests, comments, reviews and merges. */
const NOTIFIES =
  /\/(?:issues|pulls|commits)(?:\/[^/]+\/(?:comments(?:\/[^/]+\/replies)?|reviews|merge|requested_reviewers))?$/
const CHECK = /\/check-(?:runs|suites)(?:\/|$)/

/** Has each write of a client wait for its turn among those of the installation. */
export function paceWrites(client: Client, turns: WriteTurns, installation: string): Client {
  client.hook.before('request', async ({ method, url, request }) => {
    const { pathname } = new URL(url, 'https://github.example')
    if (method === 'GET' || method === 'HEAD' || TOKEN.test(pathname)) return
    const isNew = method === 'POST' || method === 'PUT'
    const rank = rankOf(CHECK.test(pathname), request?.isFirst === true)
    await turns.take(installation, { rank, notifies: isNew && NOTIFIES.test(pathname) })
  })
  return client
}

/** Jobs that answer a person. */
const ANSWERS: readonly unknown[] = ['command', 'check-action', 'tenant-request']

function rankOf(isCheck: boolean, isFirst: boolean): Rank {
  const { job } = currentWork()
  if (isCheck && isFirst) return RANKS.firstCheck
  if (ANSWERS.includes(job)) return RANKS.answer
  if (isCheck) return RANKS.check
  return job === 'write-trail' ? RANKS.trail : RANKS.other
}

/** The least time between two writes of one installation, and between two that notify people; and its writes an hour. */
export interface Pace {
  readonly writeMs: number
  readonly notifyMs: number
  readonly anHour: number
}

/**
 * Below the 80 a minute and 500 an hour that GitHub allows of what creates content (docs, "Rate limits for the REST API");
 * three seconds where people are notified is what octokit's own throttling waits.
 */
export const GITHUB_PACE: Pace = { writeMs: 800, notifyMs: 3_000, anHour: 480 }

/** For a server on this machine: the same order, about a hundred times as fast. */
export const LOOPBACK_PACE: Pace = { writeMs: 10, notifyMs: 30, anHour: 1_000_000 }

/** Which writes go first: people wait for the check of what they pushed, and for answers. */
export const RANKS = { firstCheck: 0, answer: 1, check: 2, other: 3, trail: 4 } as const

type Rank = (typeof RANKS)[keyof typeof RANKS]

/** A request that changes something. */
export interface Write {
  readonly rank: Rank
  readonly notifies: boolean
}

interface Waiting extends Write {
  readonly go: () => void
}

/** So many checks and answers in a row, then one of the others: a flood does not block other writes for ever. */
const MOST_IN_A_ROW = 60

const HOUR_MS = 3_600_000
/** So many writes are free after a pause: each job that comes back reads again what it needs. */
const ENOUGH = 20

/**
 * Lets the writes of each installation go one after the other, at a pace, by rank. The second half of an hour's writes
 * goes to checks and answers first: others wait so long that they last for the hour.
 */
export class WriteTurns {
  readonly #pace: Pace
  readonly #lanes = new Map<string, Lane>()

  constructor(pace: Pace) {
    this.#pace = pace
  }

  /** Resolves when it is this write's turn. Throws `github-unavailable` where the hour has no more: the job comes back. */
  take(installation: string, write: Write): Promise<void> {
    const lane = this.#lanes.get(installation) ?? new Lane(this.#pace)
    this.#lanes.set(installation, lane)
    return lane.take(write)
  }
}

class Lane {
  readonly #pace: Pace
  readonly #waiting: Waiting[] = []
  /** When each write of the last hour went. */
  readonly #gone: number[] = []
  #inARow = 0
  #freeAt = 0
  #notifiesAt = 0
  #othersAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pace: Pace) {
    this.#pace = pace
  }

  async take(write: Write): Promise<void> {
    const now = performance.now()
    this.#forget(now)
    const sooner = this.#waiting.filter(({ rank }) => rank < RANKS.other).length
    const over = this.#gone.length + sooner - this.#pace.anHour
    if (over >= 0) throw exhausted(this.#pace.anHour, (this.#gone[over + ENOUGH] ?? now) + HOUR_MS - now)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ ...write, go: resolve })
    this.#serve()
    return promise
  }

  #serve(): void {
    clearTimeout(this.#timer)
    const now = performance.now()
    this.#forget(now)
    const next = now < this.#freeAt ? undefined : this.#next(now)
    if (next) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#inARow = next.rank < RANKS.other ? this.#inARow + 1 : 0
      if (next.notifies) this.#notifiesAt = now + this.#pace.notifyMs
      this.#gone.push(now)
      const last = this.#gone.at(-this.#pace.anHour) ?? Number.NEGATIVE_INFINITY
      this.#freeAt = Math.max(now + this.#pace.writeMs, last + HOUR_MS)
      const isScarce = this.#gone.length > this.#pace.anHour / 2
      if (isScarce && next.rank >= RANKS.other) this.#othersAt = now + HOUR_MS / this.#pace.anHour
      next.go()
    }
    if (this.#waiting.length === 0) return
    const at = Math.max(this.#freeAt, Math.min(...this.#waiting.map(one => this.#readyAt(one))))
    this.#timer = setTimeout(() => this.#serve(), Math.max(1, at - now))
  }

  #forget(now: number): void {
    while (this.#gone[0] !== undefined && this.#gone[0] <= now - HOUR_MS) this.#gone.shift()
  }

  #readyAt({ rank, notifies }: Waiting): number {
    return Math.max(notifies ? this.#notifiesAt : 0, rank >= RANKS.other ? this.#othersAt : 0)
  }

  #next(now: number): Waiting | undefined {
    const ready = this.#waiting.filter(one => now >= this.#readyAt(one))
    const others = this.#inARow >= MOST_IN_A_ROW ? ready.filter(({ rank }) => rank >= RANKS.other) : []
    return (others.length > 0 ? others : ready).sort((a, b) => a.rank - b.rank)[0]
  }
}

function exhausted(writes: number, ms: number): BailiwickError {
  const what = `Bailiwick wrote ${writes} times to GitHub in the last hour, and GitHub allows 500`
  return new BailiwickError('github-unavailable', what, { retryAfter: Math.ceil(ms / 1000), limited: true })
}
