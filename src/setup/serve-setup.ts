import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { donePage, failedPage, startPage } from './pages.ts'

export interface SetupSite {
  /** Where people go with their browser. */
  readonly url: string
  /** Resolves when the App is registered and kept; rejects when that failed for good. */
  readonly done: Promise<void>
  close(): Promise<void>
}

interface SetupSteps {
  /** 0: any free port. */
  readonly port: number
  /** Where the form goes: GitHub's page for a new App. */
  readonly newAppUrl: string
  /** The manifest, with this address to come back to. */
  readonly manifest: (redirectUrl: string) => object
  /** Takes the App that the code stands for; answers with the address where it is installed. */
  readonly take: (code: string) => Promise<string>
}

/**
 * Serves the two pages of the registration on this machine only. GitHub's way back is taken once, by who holds the state that
 * went there; whoever comes with another state changes nothing.
 */
export async function serveSetup(steps: SetupSteps): Promise<SetupSite> {
  const finished = Promise.withResolvers<void>()
  const state = randomBytes(32).toString('base64url')
  let taken = false
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo
    // another name for this address is a page elsewhere that was led here
    if (request.headers.host !== `127.0.0.1:${port}`) return answer(response, 421, failedPage('Unknown host.'))
    if (request.method !== 'GET') return answer(response, 405, failedPage('Only GET.'))
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${port}`)
    if (url.pathname === '/') {
      const action = `${steps.newAppUrl}?state=${state}`
      return answer(response, 200, startPage(action, steps.manifest(`${url.origin}/callback`)), steps.newAppUrl)
    }
    if (url.pathname !== '/callback') return answer(response, 404, failedPage('There is no such page.'))
    const code = url.searchParams.get('code') ?? ''
    if (!equal(url.searchParams.get('state') ?? '', state) || !/^[\w-]{1,200}$/.test(code)) {
      return answer(response, 403, failedPage('This callback does not belong to the page that the setup opened.'))
    }
    if (taken) return answer(response, 403, failedPage('The App is already registered.'))
    taken = true
    void take(steps, code, response).then(finished.resolve, finished.reject)
  })
  finished.promise.catch(() => undefined)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(steps.port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    done: finished.promise,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeIdleConnections()
      }),
  }
}

async function take(steps: SetupSteps, code: string, response: ServerResponse<IncomingMessage>): Promise<void> {
  try {
    answer(response, 200, donePage(await steps.take(code)))
  } catch (error) {
    answer(response, 502, failedPage('GitHub did not return the App. The terminal shows the reason.'))
    throw error
  }
}

/** Takes the same time whatever is given. */
const equal = (given: string, expected: string) =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', expected, 'buffer'))

function answer(response: ServerResponse, status: number, body: string, formAction?: string): void {
  const form = formAction === undefined ? "'none'" : new URL(formAction).origin
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action ${form}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  })
  response.end(body)
}
