import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SetupSite {
  /** The address to open in a browser. */
  readonly url: string
  /** Resolves when the App is registered and saved; rejects if that failed permanently. */
  readonly done: Promise<void>
  close(): Promise<void>
}

interface SetupSteps {
  /** 0: any free port. */
  readonly port: number
  /** Target of the form: GitHub's page for a new App. */
  readonly newAppUrl: string
  /** The manifest with this redirect address. */
  readonly manifest: (redirectUrl: string) => object
  /** Exchanges the code for the App; resolves to the address where it is installed. */
  readonly take: (code: string) => Promise<string>
}

/**
 * Serves the two registration pages on this machine only. Accepts GitHub's redirect once, with the state that was sent
 * to GitHub; a request with another state changes nothing.
 */
export async function serveSetup(steps: SetupSteps): Promise<SetupSite> {
  const finished = Promise.withResolvers<void>()
  const state = randomBytes(32).toString('base64url')
  let taken = false
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo
    // another host name means that a foreign page was led here
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

/** Compares in constant time. */
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

const escaped = (text: string) => text.replace(/[^A-Za-z0-9 .,:;/_-]/g, char => `&#${char.codePointAt(0)};`)

const page = (title: string, body: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}
button{font:inherit;padding:.5rem 1rem}code{font-family:ui-monospace,monospace}</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`

/** The page with the button that sends the manifest to GitHub. */
function startPage(action: string, manifest: object): string {
  return page(
    'Register Bailiwick on GitHub',
    `<p>GitHub shows the permissions of the App, and lets you change its name. This page sends data to GitHub only.</p>
<form action="${escaped(action)}" method="post">
<input type="hidden" name="manifest" value="${escaped(JSON.stringify(manifest))}">
<button type="submit">Continue to GitHub</button>
</form>`,
  )
}

/** The page after GitHub's redirect. `installUrl` is where the App is installed. */
function donePage(installUrl: string): string {
  return page(
    'The App is registered',
    `<p>Its settings are written. Next: <a href="${escaped(installUrl)}">install it on your organization</a>, then start the web process.</p>`,
  )
}

const failedPage = (why: string): string => page('Setup failed', `<p>${escaped(why)}</p>`)
