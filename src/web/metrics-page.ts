import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from './answer.ts'

/** The metrics, and the token that is required to read them. */
export interface MetricsAccess {
  /** Secret. */
  readonly token: string
  /** In Prometheus' text format. */
  readonly render: () => Promise<{ readonly type: string; readonly text: string }>
}

/** Serves the metrics to requests with the token; any other request gets 404, as if there were no metrics. */
export async function serveMetrics(
  request: IncomingMessage,
  response: ServerResponse,
  { token, render }: MetricsAccess,
): Promise<void> {
  const given = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(request.headers.authorization ?? '')?.[1] ?? ''
  if (request.method !== 'GET' || !isEqual(given, token))
    return refuse(request, response, { status: 404, text: 'not found' })
  const { type, text } = await render()
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  response.end(text)
}

function isEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
