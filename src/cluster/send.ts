import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { isIP } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { BailiwickError } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import { clusterError } from './cluster-error.ts'
import type { RequestCredentials } from './credentials.ts'

const MAX_BYTES = 64 * 1024 * 1024

/** Where an API server listens. */
export type ServerAddress = Pick<RequestOptions, 'protocol' | 'hostname' | 'port' | 'auth' | 'servername'>

/** Read from its URL once, not for each request. An address without a name has no server name, as node:https has it. */
export function serverAddressOf(url: URL): ServerAddress {
  const { protocol, hostname, port, auth } = urlToHttpOptions(url)
  const servername = isIP(hostname ?? '') === 0 ? (hostname ?? '') : ''
  return { protocol, hostname, servername, ...(port ? { port } : {}), ...(auth ? { auth } : {}) }
}

export interface Call {
  readonly cluster: string
  readonly address: ServerAddress
  readonly path: string
  /** With its question mark; '' for none. */
  readonly query: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

interface Reply {
  readonly status: number
  readonly body: Json
  readonly retryAfter: number
}

/**
 * One HTTPS exchange. Any answer of the API server resolves; throws `cluster-unavailable` where there is none: no
 * connection, no trust in its certificate, no answer in time, one that is not JSON or larger than 64 MiB.
 */
export async function send(call: Call, access: RequestCredentials, agent: Agent): Promise<Reply> {
  try {
    return await exchange(call, access, agent)
  } catch (error) {
    // a kept connection that the server had closed: the request never reached it
    if (error instanceof StaleConnection) return await exchange(call, access, agent)
    throw error
  }
}

class StaleConnection extends BailiwickError {}

/**
 * Calls `stop` when the time is over or the signal is given; what is returned ends the watch. By hand: signals that are
 * combined for each request outlive it, and a run makes 20,000 of them.
 */
function limit({ timeoutMs, signal }: Call, stop: (why: string) => void): () => void {
  const onAbort = () => stop('stopped')
  const timer = setTimeout(() => stop(`no answer in ${timeoutMs / 1000} s`), timeoutMs)
  signal?.addEventListener('abort', onAbort, { once: true })
  return () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

function exchange(call: Call, access: RequestCredentials, agent: Agent): Promise<Reply> {
  const gone = (why: string, cause?: unknown) =>
    new BailiwickError('cluster-unavailable', `cluster ${call.cluster}, ${call.method} ${call.path}: ${why}`, {
      cause,
    })
  if (call.signal?.aborted) return Promise.reject(gone('stopped'))
  const headers: Record<string, string> = { Accept: 'application/json', ...access.headers, ...call.headers }
  if (call.body !== undefined) headers['Content-Length'] = String(Buffer.byteLength(call.body))

  return new Promise((onReply, onError) => {
    const settled =
      <T>(tell: (value: T) => void) =>
      (value: T) => {
        settle()
        tell(value)
      }
    const [resolve, reject] = [settled<Reply>(onReply), settled<Error>(onError)]
    let answered = false
    const failed = (error: Error & { code?: string }) => {
      const why = error.message || error.code || 'the connection broke'
      if (sent.reusedSocket && !answered && error.code === 'ECONNRESET') {
        return reject(new StaleConnection('cluster-unavailable', gone(why).message, { cause: error }))
      }
      reject(gone(why, error))
    }
    const settle = limit(call, why => {
      reject(gone(why))
      sent.destroy()
    })
    // explicitly, or NODE_TLS_REJECT_UNAUTHORIZED=0 would send the worker's token to any server
    const trust: RequestOptions & WithCredentials = {
      rejectUnauthorized: true,
      ...call.address,
      ...access.tls,
      credentials: access.tls,
    }
    const sent = request(
      { ...trust, method: call.method, headers, agent, path: `${call.path}${call.query}` },
      response => {
        answered = true
        readText(response, text => replyOf(response, text, headers.Accept)).then(resolve, cause =>
          reject(gone(cause.message, cause)),
        )
      },
    )
    sent.on('error', failed)
    sent.end(call.body)
  })
}

/** What `read` makes of the text of an answer. Where it throws, the connection is not used again. */
function readText<T>(response: IncomingMessage, read: (text: string) => T): Promise<T> {
  return new Promise((resolve, reject) => {
    const { socket } = response
    const chunks: Buffer[] = []
    let size = 0
    response.on('error', reject)
    response.on('aborted', () => reject(new Error('the connection broke')))
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_BYTES) {
        reject(new Error(`the response is larger than ${MAX_BYTES} bytes`))
        response.destroy()
      } else chunks.push(chunk)
    })
    response.on('end', () => {
      try {
        resolve(read(Buffer.concat(chunks).toString('utf8')))
      } catch (error) {
        // at once, before another request gets the connection: the rest of this answer would be taken for the next one
        socket.destroy()
        reject(error)
      }
    })
  })
}

function replyOf(
  { statusCode: status = 0, headers }: IncomingMessage,
  text: string,
  accept: string | undefined,
): Reply {
  const retryAfter = Number(headers['retry-after']) || 0
  if (accept === 'text/plain' && status >= 200 && status < 300) return { status, body: text, retryAfter }
  // the API server answers in plain text where it does not serve a path, and where it is too busy
  if ((status === 404 || status === 429) && !text.startsWith('{'))
    return { status, body: { message: text.trim() }, retryAfter }
  try {
    return { status, body: JSON.parse(text), retryAfter }
  } catch (cause) {
    throw new Error(`status ${status} without JSON: something else answers at this address`, { cause })
  }
}

/** A watch sends a bookmark about once a minute. */
const SILENT_MS = 300_000
const MAX_LINE = 4 * 1024 * 1024

interface Followed {
  readonly cluster: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/**
 * A GET whose answer is one JSON value per line, until the server ends it. Throws clusterError for an answer without
 * success, and `cluster-unavailable` where the connection breaks, is silent for too long, or is aborted.
 */
export function follow(call: Followed, access: RequestCredentials, onItem: (item: Json) => void): Promise<void> {
  const gone = (why: string, cause?: unknown) =>
    new BailiwickError('cluster-unavailable', `cluster ${call.cluster}, watch ${call.url.pathname}: ${why}`, { cause })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const headers = { Accept: 'application/json', ...access.headers, ...call.headers }
  // explicitly, or NODE_TLS_REJECT_UNAUTHORIZED=0 would send the worker's token to any server
  const sent = request(call.url, { headers, agent: false, rejectUnauthorized: true, ...access.tls }, response => {
    const lines = linesOf(response, line => {
      try {
        if (response.statusCode === 200) onItem(JSON.parse(line))
      } catch (cause) {
        stop('a line that is no JSON', cause)
      }
    })
    response.on('error', error => reject(gone(error.message, error)))
    response.on('aborted', () => reject(gone('the connection broke')))
    response.on('end', () => {
      if (response.statusCode === 200) resolve()
      else reject(clusterError(call.cluster, response.statusCode ?? 0, statusOf(lines.all())))
    })
  })
  const stop = (why: string, cause?: unknown) => {
    reject(gone(why, cause))
    sent.destroy()
  }
  const onAbort = () => stop('stopped')
  sent.setTimeout(SILENT_MS, () => stop(`silent for ${SILENT_MS / 1000} s`))
  sent.on('error', error => reject(gone(error.message, error)))
  if (call.signal?.aborted) onAbort()
  else call.signal?.addEventListener('abort', onAbort, { once: true })
  sent.end()
  return promise.finally(() => call.signal?.removeEventListener('abort', onAbort))
}

/** Calls `onLine` for each whole line; `all`: everything of an answer that is short. */
function linesOf(response: IncomingMessage, onLine: (line: string) => void): { all(): string } {
  let rest = ''
  let first = ''
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    if (first.length < MAX_LINE && response.statusCode !== 200) first += text
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') onLine(line)
    if (rest.length > MAX_LINE) response.destroy(new Error(`a line of more than ${MAX_LINE} characters`))
  })
  return { all: () => first }
}

function statusOf(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return { message: text.trim() }
  }
}

/** The credentials of a connection, as its requests carry them. */
interface WithCredentials {
  readonly credentials: RequestCredentials['tls']
}

/**
 * Kept connections to one API server; those of different credentials are never mixed. Node's own agent names connections
 * by their whole certificates, and makes that name three times for each request; here it is made once for each credentials.
 */
export class ApiAgent extends Agent {
  readonly #names = new WeakMap<RequestCredentials['tls'], string>()

  override getName(options: RequestOptions & Partial<WithCredentials>): string {
    const { credentials } = options
    if (credentials === undefined) return super.getName(options)
    const known = this.#names.get(credentials)
    if (known !== undefined) return known
    // by content: the same credentials, read again, go on with the same connections
    const name = hash('sha256', super.getName(options))
    this.#names.set(credentials, name)
    return name
  }
}
