import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from './route.ts'

/** Writes an answer with GitHub's headers; 304 for who has it already. */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  rate: { readonly limit: number; readonly used: number; readonly reset: number },
): void {
  const bytes = bytesOf(reply)
  const isText = reply.body instanceof Uint8Array || typeof reply.body === 'string'
  const fresh = isUnchanged(request, reply)
  response.statusCode = fresh ? 304 : reply.status
  response.setHeader('content-type', isText ? 'application/octet-stream' : 'application/json; charset=utf-8')
  response.setHeader('x-github-media-type', 'github.v3; format=json')
  response.setHeader('x-github-request-id', randomUUID())
  response.setHeader('x-ratelimit-limit', rate.limit)
  response.setHeader('x-ratelimit-remaining', Math.max(rate.limit - rate.used, 0))
  response.setHeader('x-ratelimit-used', rate.used)
  response.setHeader('x-ratelimit-reset', rate.reset)
  response.setHeader('x-ratelimit-resource', 'core')
  if (request.method === 'GET' && reply.status === 200) response.setHeader('etag', etagOf(bytes))
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  response.end(fresh ? undefined : bytes)
}

/** Whether the caller has this very answer already and says so by `if-none-match`. */
export function isUnchanged(request: IncomingMessage, reply: Reply): boolean {
  const known = request.headers['if-none-match']
  if (known === undefined || request.method !== 'GET' || reply.status !== 200) return false
  const etag = etagOf(bytesOf(reply))
  return known.split(',').some(each => each.trim().replace(/^W\//, '') === etag)
}

function bytesOf({ body }: Reply): Buffer {
  if (body === undefined) return Buffer.alloc(0)
  return Buffer.from(body instanceof Uint8Array || typeof body === 'string' ? body : JSON.stringify(body))
}

const etagOf = (bytes: Buffer) => `"${createHash('sha1').update(bytes).digest('hex')}"`
