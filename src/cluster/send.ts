import { type Agent, request } from 'node:https'
import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import type { RequestCredentials } from './credentials.ts'

const MAX_BYTES = 64 * 1024 * 1024

export interface Call {
  readonly cluster: string
  readonly url: URL
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

function exchange(call: Call, access: RequestCredentials, agent: Agent): Promise<Reply> {
  const gone = (why: string, cause?: unknown) =>
    new BailiwickError('cluster-unavailable', `cluster ${call.cluster}, ${call.method} ${call.url.pathname}: ${why}`, {
      cause,
    })
  const timeout = AbortSignal.timeout(call.timeoutMs)
  const signal = call.signal ? AbortSignal.any([timeout, call.signal]) : timeout
  const headers: Record<string, string> = { Accept: 'application/json', ...access.headers, ...call.headers }
  if (call.body !== undefined) headers['Content-Length'] = String(Buffer.byteLength(call.body))

  return new Promise((resolve, reject) => {
    let answered = false
    const failed = (error: Error & { code?: string }) => {
      if (timeout.aborted) return reject(gone(`no answer in ${call.timeoutMs / 1000} s`))
      if (call.signal?.aborted) return reject(gone('stopped'))
      const why = error.message || error.code || 'the connection broke'
      if (sent.reusedSocket && !answered && error.code === 'ECONNRESET') {
        return reject(new StaleConnection('cluster-unavailable', gone(why).message, { cause: error }))
      }
      reject(gone(why, error))
    }
    // explicitly, or NODE_TLS_REJECT_UNAUTHORIZED=0 would send the worker's token to anybody
    const options = { method: call.method, headers, agent, signal, rejectUnauthorized: true, ...access.tls }
    const sent = request(call.url, options, response => {
      answered = true
      const chunks: Buffer[] = []
      let size = 0
      response.on('error', failed)
      response.on('aborted', () => reject(gone('the connection broke')))
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > MAX_BYTES) {
          reject(gone(`the response is larger than ${MAX_BYTES} bytes`))
          response.destroy()
        } else chunks.push(chunk)
      })
      response.on('end', () => {
        const status = response.statusCode ?? 0
        const text = Buffer.concat(chunks).toString('utf8')
        const retryAfter = Number(response.headers['retry-after']) || 0
        if (headers.Accept === 'text/plain' && status >= 200 && status < 300)
          return resolve({ status, body: text, retryAfter })
        // the API server answers in plain text where it does not serve a path, and where it is too busy
        if ((status === 404 || status === 429) && !text.startsWith('{'))
          return resolve({ status, body: { message: text.trim() }, retryAfter })
        try {
          const body: Json = JSON.parse(text)
          resolve({ status, body, retryAfter })
        } catch (cause) {
          reject(gone(`status ${status} without JSON: something else answers at this address`, cause))
        }
      })
    })
    sent.on('error', failed)
    sent.end(call.body)
  })
}
