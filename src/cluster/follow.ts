import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { clusterError } from './cluster-error.ts'
import type { RequestCredentials } from './credentials.ts'

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
 * A GET whose answer is one JSON value per line, until the server ends it. Throws clusterError for an answer that is no
 * success, and `cluster-unavailable` where the connection breaks, is silent for too long, or is told to stop.
 */
export function follow(call: Followed, access: RequestCredentials, onItem: (item: Json) => void): Promise<void> {
  const gone = (why: string, cause?: unknown) =>
    new BailiwickError('cluster-unavailable', `cluster ${call.cluster}, watch ${call.url.pathname}: ${why}`, { cause })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const headers = { Accept: 'application/json', ...access.headers, ...call.headers }
  // explicitly, or NODE_TLS_REJECT_UNAUTHORIZED=0 would send the worker's token to anybody
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
