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
 * to read the answer; then the connection is cut. Not `connection: close`: Node would cut it at once, and the client
 * would see a broken pipe instead of the answer.
 */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Answer): void {
  answer(response, refusal)
  if (request.complete) return
  const cut = setTimeout(() => request.destroy(), LINGER_MS)
  for (const over of ['end', 'close']) request.once(over, () => clearTimeout(cut))
  request.on('error', () => undefined) // the client went away: nobody is left to be told
  request.resume()
}
