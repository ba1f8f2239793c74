import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Reply } from './route.ts'

/** Writes an answer with GitHub's headers; 304 for who has it already. */
export function writeReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  rate: { limit: number; left: number },
) {
  const { body } = reply
  const binary = body instanceof Uint8Array || typeof body === 'string'
  const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(binary ? body : JSON.stringify(body))
  const etag = `"${createHash('sha1').update(bytes).digest('hex')}"`
  const fresh = request.method === 'GET' && reply.status === 200 && request.headers['if-none-match'] === etag
  response.statusCode = fresh ? 304 : reply.status
  response.setHeader('content-type', binary ? 'application/octet-stream' : 'application/json; charset=utf-8')
  response.setHeader('x-github-media-type', 'github.v3; format=json')
  response.setHeader('x-github-request-id', randomUUID())
  response.setHeader('x-ratelimit-limit', rate.limit)
  response.setHeader('x-ratelimit-remaining', Math.max(rate.left, 0))
  response.setHeader('x-ratelimit-used', rate.limit - rate.left)
  response.setHeader('x-ratelimit-reset', Math.ceil(Date.now() / 3_600_000) * 3600)
  if (request.method === 'GET' && reply.status === 200) response.setHeader('etag', etag)
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  response.end(fresh ? undefined : bytes)
}
