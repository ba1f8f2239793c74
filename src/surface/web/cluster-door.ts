import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BailiwickError } from '../../base/errors.ts'
import { parseApplyResults, RESULT_LIMITS } from '../../cluster/channel/apply-results.ts'
import type { ContentToken } from '../../cluster/channel/cluster-work.ts'
import { isWorkerKey } from '../../cluster/channel/worker-keys.ts'
import type { Log } from '../../process/log.ts'
import type { Queue } from '../../receive/queue.ts'
import type { WorkStore } from '../pages/work-store.ts'
import { answer, BodyReader, refuse } from './answer.ts'

const PATH = /^\/api\/clusters\/([a-z0-9-]{1,63})\/(work|tokens|results)$/
const METHODS = { work: 'GET', tokens: 'POST', results: 'POST' } as const
/** Compared with for an unknown cluster, so that the answer takes as long. */
const NO_KEYS = ['']

interface ClusterDoorSettings {
  readonly store: Pick<WorkStore, 'offered' | 'report'>
  /** The present keys of a cluster's worker; undefined if it has none. Throws `config` if they cannot be read. */
  readonly keysOf: (cluster: string) => readonly string[] | undefined
  /** Tokens that read these repositories of an installation. */
  readonly tokens: (installation: number, repositories: readonly number[]) => Promise<readonly ContentToken[]>
  /** Runs one at a time per key, in any process of the site. */
  readonly withLock: Queue['withLock']
  /** The cluster's worker sent results. */
  readonly onResults: (cluster: string) => Promise<void>
  readonly log: Log
}

/**
 * Serves the worker of a cluster, by the key of that cluster: sends its approved work and tokens for the sources of
 * that work, and accepts its results. Results are never published unchecked, and never concern another cluster: the key
 * must belong to the cluster in the path.
 */
export class ClusterDoor {
  readonly #settings: ClusterDoorSettings
  readonly #bodies = new Map<string, BodyReader>()
  readonly #unreadable = new Set<string>()
  /** A worker asks once in WORKER_POLL_SECONDS, and reports what changes. */
  readonly #asked = new RequestPace({ burst: 60, perSecond: 5 })
  readonly #reported = new RequestPace({ burst: 20, perSecond: 1 })

  constructor(settings: ClusterDoorSettings) {
    this.#settings = settings
  }

  /** Answers requests of workers; false for another path, which is left to the caller. */
  async serve(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const path = request.url?.split('?', 1)[0] ?? ''
    const [, cluster, what] = PATH.exec(path) ?? []
    if (cluster === undefined) return false
    const keys = this.#keysOf(cluster)
    if (keys === 'unreadable') {
      refuse(request, response, { status: 503, text: 'the key of this cluster cannot be read at the moment' })
      return true
    }
    const isKnown = isWorkerKey(keyOf(request), keys ?? NO_KEYS)
    if (!isKnown || keys === undefined) refuse(request, response, { status: 401, text: 'not a worker of this cluster' })
    else
      await this.#answer(cluster, what as keyof typeof METHODS, request, response).catch(
        this.#failed(cluster, response),
      )
    return true
  }

  /** The file was readable at the start, so it is probably being replaced; logged once. */
  #keysOf(cluster: string): readonly string[] | undefined | 'unreadable' {
    try {
      const keys = this.#settings.keysOf(cluster)
      this.#unreadable.delete(cluster)
      return keys
    } catch (err) {
      if (!(err instanceof BailiwickError)) throw err
      if (!this.#unreadable.has(cluster)) this.#settings.log.error({ err, cluster }, 'key of a cluster cannot be read')
      this.#unreadable.add(cluster)
      return 'unreadable'
    }
  }

  async #answer(
    cluster: string,
    what: keyof typeof METHODS,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (request.method !== METHODS[what])
      return refuse(request, response, { status: 405, text: `only ${METHODS[what]}` })
    if (!(what === 'results' ? this.#reported : this.#asked).take(cluster)) {
      response.setHeader('retry-after', '5')
      return refuse(request, response, { status: 429, text: 'this cluster asks too often' })
    }
    if (what === 'results') return this.#take(cluster, request, response)
    const offered = await this.#settings.store.offered(cluster)
    if (!offered) return refuse(request, response, { status: 503, text: 'nothing was evaluated for this cluster yet' })
    const { installation, work } = offered
    if (what === 'work') return json(request, response, JSON.stringify(work))
    const repositories = work.repositories.map(({ id }) => id)
    const tokens = await this.#settings.tokens(installation, repositories)
    json(request, response, JSON.stringify({ tokens }))
  }

  async #take(cluster: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    // each cluster has its own share of memory, so that a flood affects neither other clusters nor webhooks
    const bodies = this.#bodies.get(cluster) ?? new BodyReader(RESULT_LIMITS.bytes, 1)
    this.#bodies.set(cluster, bodies)
    const body = await bodies.read(request)
    if (body === 'aborted') return void response.destroy()
    if (body === 'too-large') return refuse(request, response, { status: 413, text: 'the results are too large' })
    if (body === 'busy') return refuse(request, response, { status: 503, text: 'other results are read' })
    const results = parseApplyResults(body.toString('utf8'))
    const before = tagOf(request.headers['if-match'])
    const { store, withLock } = this.#settings
    const kept = await withLock(`results ${cluster}`, () => store.report(cluster, results, before))
    if (kept.tag !== undefined) response.setHeader('etag', `"${kept.tag}"`)
    if ('refused' in kept) return answer(response, REFUSALS[kept.refused])
    await this.#settings.onResults(cluster)
    answer(response, { status: 202, text: 'taken' })
  }

  #failed(cluster: string, response: ServerResponse): (err: unknown) => void {
    return err => {
      if (!(err instanceof BailiwickError)) throw err
      this.#settings.log.warn({ err, cluster }, 'worker of a cluster was not answered')
      const isTheirs = err.code === 'cluster-invalid'
      answer(response, { status: isTheirs ? 400 : 503, text: isTheirs ? err.message : 'not now' })
    }
  }
}

const REFUSALS = {
  older: { status: 412, text: 'another report was taken since: send the present one with the etag of this answer' },
  overtaken: { status: 409, text: 'not of the approved revision set: ask for the work again' },
} as const

const tagOf = (header: string | undefined): string | undefined => /^"([\w-]{1,64})"$/.exec(header ?? '')?.[1]

function keyOf({ headers }: IncomingMessage): string {
  return /^Bearer ([\x21-\x7e]{1,512})$/.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** Sends an ETag, so that an unchanged answer is not sent again. */
function json(request: IncomingMessage, response: ServerResponse, text: string): void {
  const etag = `"${hash('sha256', text)}"`
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store', etag }
  const isSame = request.headers['if-none-match'] === etag
  response.writeHead(isSame ? 304 : 200, headers)
  response.end(isSame ? undefined : text)
}

interface Pace {
  /** Requests at once. */
  readonly burst: number
  /** Requests per second after these. */
  readonly perSecond: number
}

/** Limits the request rate of each client separately. */
export class RequestPace {
  readonly #pace: Pace
  readonly #now: () => number
  readonly #clients = new Map<string, { left: number; at: number }>()

  constructor(pace: Pace, now: () => number = () => performance.now()) {
    this.#pace = pace
    this.#now = now
  }

  /** Whether this request is within the pace; it counts if it is. */
  take(client: string): boolean {
    const { burst, perSecond } = this.#pace
    const now = this.#now()
    const known = this.#clients.get(client) ?? { left: burst, at: now }
    const left = Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond)
    const isTaken = left >= 1
    this.#clients.set(client, { left: isTaken ? left - 1 : left, at: now })
    return isTaken
  }
}
