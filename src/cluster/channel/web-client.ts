import { BailiwickError } from '../../base/errors.ts'
import { type ApplyResults, applyResultsText } from './apply-results.ts'
import { type ClusterWork, type ContentToken, parseClusterWork, parseContentTokens } from './cluster-work.ts'
import { readWorkerKeys } from './worker-keys.ts'

const TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 64 * 1024 * 1024

/** What the worker of a cluster asks of the web process. Times are of this machine's clock. */
export interface WebClient {
  /** What is approved for a cluster now; undefined where it is what `known` named. */
  work(cluster: string, known?: string): Promise<{ readonly work: ClusterWork; readonly tag: string } | undefined>
  /** Tokens for the sources of a cluster. */
  tokens(cluster: string): Promise<readonly ContentToken[]>
  /** `overtaken`: the web process refused the report, because another revision set is approved now. */
  results(cluster: string, results: ApplyResults, signal: AbortSignal): Promise<'taken' | 'overtaken'>
}

/**
 * A client of the web process at `url`, with the key in `keyFile`, which is read for each request as it is replaced.
 * Throws `web-unavailable` where the web process does not answer or rejects the key, and `cluster-invalid`.
 */
export function openWebClient({ url, keyFile }: { readonly url: string; readonly keyFile: string }): WebClient {
  const clock = new WebClock()
  /** Of the report of each cluster that the web process took last. */
  const taken = new Map<string, string>()
  const ask = async (cluster: string, what: string, init: RequestInit = {}): Promise<Response> => {
    const [key] = readWorkerKeys(keyFile)
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${key}` }
    const path = `/api/clusters/${encodeURIComponent(cluster)}/${what}`
    const timeout = AbortSignal.timeout(TIMEOUT_MS)
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout
    try {
      // a redirect would send the key elsewhere
      const response = await fetch(`${url}${path}`, { ...init, headers, redirect: 'error', signal })
      clock.heard(response.headers.get('date'))
      return response
    } catch (cause) {
      throw unavailable(`${url} does not answer: ${(cause as Error).message}`, cause)
    }
  }
  const report = (cluster: string, body: string, signal: AbortSignal) => {
    const last = taken.get(cluster)
    const condition = last === undefined ? { 'if-none-match': '*' } : { 'if-match': last }
    const headers = { 'content-type': 'application/json', ...condition }
    return ask(cluster, 'results', { method: 'POST', headers, body, signal })
  }
  return {
    work: async (cluster, known) => {
      const response = await ask(cluster, 'work', known === undefined ? {} : { headers: { 'if-none-match': known } })
      if (response.status === 304) return undefined
      const work = parseClusterWork(await textOf(response, url))
      return { work, tag: response.headers.get('etag') ?? '' }
    },
    tokens: async cluster => {
      const tokens = parseContentTokens(await textOf(await ask(cluster, 'tokens', { method: 'POST' }), url))
      return tokens.map(one => ({ ...one, expiresAt: clock.here(one.expiresAt) }))
    },
    results: async (cluster, results, signal) => {
      const body = applyResultsText(clock.toWeb(results))
      let response = await report(cluster, body, signal)
      if (response.status === 412) {
        // another replica reported before this one, or the web process forgot the last report
        remember(taken, cluster, response)
        await response.body?.cancel()
        response = await report(cluster, body, signal)
      }
      if (response.status === 409) {
        await response.body?.cancel()
        return 'overtaken'
      }
      await textOf(response, url)
      remember(taken, cluster, response)
      return 'taken'
    },
  }
}

function remember(taken: Map<string, string>, cluster: string, { headers }: Response): void {
  const tag = headers.get('etag')
  if (tag === null) taken.delete(cluster)
  else taken.set(cluster, tag)
}

async function textOf(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
      chunks.push(chunk)
    }
  } catch (cause) {
    throw unavailable(`${url}: ${(cause as Error).message}`, cause)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  if (response.ok) return text
  const line = text.split('\n', 1)[0]!.slice(0, 500)
  throw unavailable(`${url} answers ${response.status}: ${line}`)
}

function unavailable(message: string, cause?: unknown): BailiwickError {
  return new BailiwickError('web-unavailable', message, {
    cause,
    fix: 'Check WEB_URL, WORKER_KEY_FILE and the network.',
  })
}

/** A smaller difference can be the time that the answer took on the network. */
const TOLERATED_MS = 5_000

/**
 * How far this machine's clock is from the web process's, by the Date of its answers. It stays the same until the clocks move
 * against each other, so that the same moment always gets the same time.
 */
export class WebClock {
  readonly #now: () => number
  #aheadMs = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The Date of an answer that came just now. */
  heard(date: string | null): void {
    const there = Date.parse(date ?? '')
    if (Number.isNaN(there)) return
    const aheadMs = there - this.#now()
    if (Math.abs(aheadMs - this.#aheadMs) > TOLERATED_MS) this.#aheadMs = Math.abs(aheadMs) > TOLERATED_MS ? aheadMs : 0
  }

  /** An ISO time of the web process as this machine's clock shows it. */
  here(at: string): string {
    return shifted(at, -this.#aheadMs)
  }

  /** Results with the times of the web process. */
  toWeb(results: ApplyResults): ApplyResults {
    const there = (at: string) => shifted(at, this.#aheadMs)
    return {
      ...results,
      retries: results.retries.map(one => ({ ...one, at: there(one.at) })),
      drift: results.drift.map(one => ({ ...one, first: there(one.first), last: there(one.last) })),
    }
  }
}

function shifted(at: string, byMs: number): string {
  return byMs === 0 ? at : new Date(Date.parse(at) + byMs).toISOString()
}
