import type { IncomingMessage, ServerResponse } from 'node:http'

/** An answer of one line. */
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
export function discardBody(request: IncomingMessage): void {
  if (request.complete) return
  const cut = setTimeout(() => request.destroy(), LINGER_MS)
  for (const over of ['end', 'close']) request.once(over, () => clearTimeout(cut))
  request.on('error', () => undefined) // the client went away: nobody is left to be told
  request.resume()
}
