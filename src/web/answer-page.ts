import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { STYLE } from '../report/page/style.ts'

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * What holds for every page: no script can run, nothing is loaded but the page's own style sheet and its icon, nobody
 * frames it, no address of it leaks, and no cache keeps what only some may read.
 */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // not no-referrer: browsers then send our own forms without an origin, and nobody could sign out (Fetch, 4.12)
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': 'private, no-store',
  vary: 'accept-encoding, cookie',
}

/** Headers that say more about one answer: cookies, where to go. */
type MoreHeaders = Readonly<Record<string, string | readonly string[]>>

/** Answers with a page. */
export async function answerPage(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  page: string,
  more: MoreHeaders = {},
): Promise<void> {
  const accepts = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))
  const body = accepts ? await promisify(gzip)(page) : Buffer.from(page)
  const encoding = accepts ? { 'content-encoding': 'gzip' } : {}
  response.writeHead(status, { ...HEADERS, ...encoding, ...plain(more), 'content-length': body.length })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Redirects the reader. */
export function redirect(response: ServerResponse, location: string, more: MoreHeaders = {}): void {
  const { 'content-type': _, vary: _vary, ...headers } = HEADERS
  response.writeHead(303, { ...headers, ...plain(more), location, 'content-length': 0 })
  response.end()
}

function plain(more: MoreHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(more).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )
}
