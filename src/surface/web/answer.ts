import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { nothingHere, refusedPage } from '../../report/page/home-page.ts'
import { STYLE } from '../../report/page/layout.ts'

/** A response of one line. */
export interface Answer {
  readonly status: number
  readonly text: string
}

/** Responds to a request whose body was read. */
export function answer(response: ServerResponse, { status, text }: Answer): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
  response.end(`${text}\n`)
}

const LINGER_MS = 1_000

/** Responds to a request without reading its body. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Answer): void {
  answer(response, refusal)
  discardBody(request)
}

/**
 * Discards the rest of a body for a second so that the client can read the response, then closes the connection. (`connection: close`
 * would make Node close it at once, and the client would get a broken pipe.)
 */
function discardBody(request: IncomingMessage): void {
  if (request.complete) return
  const cut = setTimeout(() => request.destroy(), LINGER_MS)
  for (const over of ['end', 'close']) request.once(over, () => clearTimeout(cut))
  request.on('error', () => undefined) // the client went away, so there is nothing to answer
  request.resume()
}

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/**
 * Headers of every page: no scripts, nothing loaded but its own style sheet and icon, no framing, no leaked addresses,
 * and no caching of what only some people may read.
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
  // not no-referrer: browsers then send our own forms without an origin, and sign-out would fail (Fetch, 4.12)
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': 'private, no-store',
  vary: 'accept-encoding, cookie',
}

/** Further headers of one answer: cookies, redirects. */
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

const TEXTS = { 400: 'bad request', 404: 'not found', 405: 'only GET and HEAD', 500: 'internal error' } as const

/** Refuses a request: a browser gets a page, and a program or API call gets a line of text. Reads no body. */
export async function refuseRequest(
  request: IncomingMessage,
  response: ServerResponse,
  status: keyof typeof TEXTS,
): Promise<void> {
  const allow = status === 405 ? { allow: 'GET, HEAD' } : {}
  if (!isBrowser(request)) {
    for (const [name, value] of Object.entries(allow)) response.setHeader(name, value)
    return refuse(request, response, { status, text: TEXTS[status] })
  }
  await answerPage(request, response, status, status === 404 ? nothingHere() : refusedPage(status), allow)
  discardBody(request)
}

/** Whether a person's browser sent it: programs do not ask for HTML. */
function isBrowser({ url = '', headers }: IncomingMessage): boolean {
  return /\btext\/html\b/.test(String(headers.accept ?? '')) && !url.startsWith('/api/')
}

/** GitHub does not deliver payloads over 25 MB: https://docs.github.com/en/webhooks/webhook-events-and-payloads */
export const MAX_BODY = 25 * 1024 * 1024

const AT_ONCE = 4

/** Reads request bodies; together they use at most the memory of a few bodies of the largest size. */
export class BodyReader {
  readonly #largest: number
  readonly #together: number
  #held = 0

  constructor(largest: number = MAX_BODY, atOnce: number = AT_ONCE) {
    this.#largest = largest
    this.#together = largest * atOnce
  }

  /**
   * The body; `too-large` if its declared or actual size is over the limit, `busy` if too many are being read,
   * `aborted` if the client went away. Nothing is kept beyond the limits.
   */
  async read(request: IncomingMessage): Promise<Buffer | 'too-large' | 'busy' | 'aborted'> {
    if (Number(request.headers['content-length'] ?? 0) > this.#largest) return 'too-large'
    let size = 0
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        const bytes: Buffer = chunk
        if (size + bytes.length > this.#largest) return 'too-large'
        if (this.#held + bytes.length > this.#together) return 'busy'
        size += bytes.length
        this.#held += bytes.length
        chunks.push(bytes)
      }
      return request.complete ? Buffer.concat(chunks) : 'aborted'
    } catch {
      return 'aborted' // reading fails only when the connection does
    } finally {
      this.#held -= size
    }
  }
}
