import type { IncomingMessage, ServerResponse } from 'node:http'
import { nothingHere, refusedPage } from '../report/page/notice-page.ts'
import { discardBody, refuse } from './answer.ts'
import { answerPage } from './answer-page.ts'

const TEXTS = { 400: 'bad request', 404: 'not found', 405: 'only GET and HEAD', 500: 'internal error' } as const

/** Refuses a request: a browser gets a page, and a program, or who calls the API, a line of text. Reads no body. */
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

/** A person at a page: programs do not ask for HTML. */
function isBrowser({ url = '', headers }: IncomingMessage): boolean {
  return /\btext\/html\b/.test(String(headers.accept ?? '')) && !url.startsWith('/api/')
}
