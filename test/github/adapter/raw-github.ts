import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ProbotOctokit } from 'probot'
import { onTestFinished } from 'vitest'
import { nameErrors } from '../../../src/github/client/github-error.ts'
import type { Octokit } from '../../../src/github/client/octokit.ts'

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes are sent as they are, undefined hangs up, anything else as JSON. */
  readonly body?: unknown
}

export interface RawGitHub {
  readonly url: string
  readonly octokit: Octokit
  /** `METHOD path` of every request so far, without the query. */
  readonly requests: string[]
}

export type Answerer = (method: string, path: string, query: URLSearchParams, body: string) => Answer | undefined

/** A server that says what the test wants, also what GitHub never would; gone when the test is over. 404 for `undefined`. */
export async function rawGitHub(answer: Answerer): Promise<RawGitHub> {
  const requests: string[] = []
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push(`${request.method} ${pathname}`)
    const found = answer(
      request.method ?? '',
      decodeURIComponent(pathname),
      searchParams,
      Buffer.concat(chunks).toString(),
    )
    send(response, found ?? { status: 404, body: { message: 'Not Found' } })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const quiet = () => {}
  const raw = new ProbotOctokit({
    auth: { token: 'ghs_secret' },
    baseUrl: url,
    throttle: { enabled: false },
    retry: { enabled: false },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  })
  return { url, octokit: nameErrors(raw), requests }
}

function send(response: ServerResponse, { status = 200, headers = {}, body }: Answer): void {
  if (body instanceof Uint8Array) {
    response.writeHead(status, { 'content-type': 'application/x-gzip', ...headers }).end(body)
  } else if (body === undefined && status === 200) {
    response.destroy()
  } else {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body ?? null))
  }
}
