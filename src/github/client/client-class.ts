import { ProbotOctokit } from 'probot'

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

const atOnce = { key: () => ({ schedule: (_: unknown, run: () => Promise<void>) => run() }) }

/**
 * Octokit's own throttling keeps to ten requests at once. When writes go is said by `paceWrites`, and a limit is the queue's
 * matter: it knows when to come back and does not hold a worker meanwhile.
 */
export const LIMITS_ARE_THROWN = {
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
  const timedFetch = (input: string | URL | Request, init?: RequestInit) => {
    const signals = [AbortSignal.timeout(timeout), ...(init?.signal ? [init.signal] : [])]
    return fetch(input, { ...init, signal: AbortSignal.any(signals) })
  }
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
