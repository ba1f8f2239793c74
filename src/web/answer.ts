import type { IncomingMessage, ServerResponse } from 'node:http'

/** An answer of one line. */
export interface Answer {
  readonly status: number
  readonly text: string
}

/** Answers a request whose body was read. */
export function answer(response: ServerResponse, { status, text }: Answer): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
  response.end(`${text}\n`)
}

const LINGER_MS = 1_000

/**
 * Answers a request whose body is not wanted. What still arrives is thrown away for a second, so that the client gets
 * to read the answer; then the connection is cut.
 */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Answer): void {
  response.setHeader('connection', 'close')
  answer(response, refusal)
  if (request.complete) return
  const cut = setTimeout(() => request.destroy(), LINGER_MS)
  request.once('close', () => clearTimeout(cut))
  request.on('error', () => undefined) // the client went away: nobody is left to be told
  request.resume()
}
