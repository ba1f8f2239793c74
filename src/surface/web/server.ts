import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { BailiwickError } from '../../base/errors.ts'
import type { Log } from '../../process/log.ts'
import { type Answer, answer, BodyReader, refuse } from './answer.ts'
import type { ClusterDoor } from './cluster-door.ts'
import type { Pages } from './pages.ts'
import { type Receiver, RefusedWebhooks, readHeaders, receiveWebhook } from './receive-webhook.ts'

const WEBHOOK_PATH = '/api/github/webhooks'

interface ServerSettings {
  readonly host: string
  readonly port: number
  /** Absent: a worker process, which only reports its health. */
  readonly receiver?: Receiver | undefined
  /** Called with the status of each answered webhook. */
  readonly onDelivery?: ((status: number) => void) | undefined
  /** Absent: there are no pages for people. */
  readonly pages?: Pages | undefined
  /** Absent: no cluster has a worker of its own. */
  readonly clusters?: Pick<ClusterDoor, 'serve'> | undefined
  /** Absent: there are no metrics. */
  readonly metrics?: MetricsAccess | undefined
  /** Rejects while the process cannot do its work. */
  readonly ready: () => Promise<void>
  /** The message then; by default that the queue does not respond. */
  readonly notReady?: string
  readonly log: Log
}

/** A listening server. */
export interface WebServer {
  readonly url: string
  /** Stops listening and waits for open requests, at most this long. */
  close(graceMs?: number): Promise<void>
}

/**
 * Starts the server: webhooks, /healthz, /readyz and what the settings add. Throws `config` if the address cannot be
 * used.
 */
export async function startServer(settings: ServerSettings): Promise<WebServer> {
  const bodies = new BodyReader()
  const refused = new RefusedWebhooks(settings.log)
  const isSaid = toldOnce()
  const server = createServer(TIMEOUTS, (request, response) => {
    serve(request, response, settings, { bodies, refused, isSaid }).catch(err => {
      settings.log.error({ err }, 'request failed')
      if (response.headersSent) response.destroy()
      else return refuseAny(request, response, settings, { status: 500, text: 'internal error' })
    })
  })
  server.maxConnections = 1_000
  await listen(server, settings)
  return { url: urlOf(server, settings.host), close: (graceMs = 5_000) => close(server, graceMs) }
}

// GitHub gives up after 10 s; slower clients only hold a connection.
const TIMEOUTS = {
  headersTimeout: 5_000,
  requestTimeout: 12_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  settings: ServerSettings,
  { bodies, refused, isSaid }: ServerState,
): Promise<void> {
  const path = request.url?.split('?', 1)[0]
  if (path === '/healthz' && request.method === 'GET') return answer(response, { status: 200, text: 'ok' })
  if (path === '/readyz' && request.method === 'GET') return sayReady(response, settings, isSaid)
  if (path === '/metrics' && settings.metrics) return serveMetrics(request, response, settings.metrics)
  if (await settings.clusters?.serve(request, response)) return
  if (path !== WEBHOOK_PATH && (await settings.pages?.serve(request, response))) return
  if (path !== WEBHOOK_PATH || settings.receiver === undefined) {
    return refuseAny(request, response, settings, { status: 404, text: 'not found' })
  }
  if (request.method !== 'POST') return refuse(request, response, { status: 405, text: 'only POST' })
  response.once('finish', () => {
    settings.onDelivery?.(response.statusCode)
    if (response.statusCode === 401) refused.note()
  })
  await serveWebhook(request, response, settings.receiver, settings.log, bodies)
}

/** Refuses with a page for people, if there are pages. */
async function refuseAny(
  request: IncomingMessage,
  response: ServerResponse,
  { pages }: ServerSettings,
  refusal: Answer & { readonly status: 404 | 500 },
): Promise<void> {
  if (pages) await pages.refuse(request, response, refusal.status)
  else refuse(request, response, refusal)
}

async function serveWebhook(
  request: IncomingMessage,
  response: ServerResponse,
  receiver: Receiver,
  log: Log,
  bodies: BodyReader,
): Promise<void> {
  const delivery = readHeaders(request.headers)
  if ('status' in delivery) return refuse(request, response, delivery)
  const body = await bodies.read(request)
  if (body === 'aborted') return void response.destroy()
  if (body === 'too-large') return refuse(request, response, { status: 413, text: 'the body is over 25 MB' })
  if (body === 'busy') return refuse(request, response, { status: 503, text: 'too many deliveries at once' })
  answer(response, await receiveWebhook(delivery, body, receiver, log))
}

interface ServerState {
  readonly bodies: BodyReader
  readonly refused: RefusedWebhooks
  readonly isSaid: (problem: string) => boolean
}

/** Whether this was the last problem, too: a probe asks every few seconds. */
function toldOnce(): (problem: string) => boolean {
  let last = ''
  return problem => {
    const isSame = problem === last
    last = problem
    return isSame
  }
}

async function sayReady(
  response: ServerResponse,
  { ready, notReady, log }: ServerSettings,
  isSaid: ServerState['isSaid'],
): Promise<void> {
  try {
    await ready()
    isSaid('')
    answer(response, { status: 200, text: 'ready' })
  } catch (err) {
    if (!isSaid(err instanceof Error ? err.message : String(err))) log.warn({ err }, 'not ready')
    const code = err instanceof BailiwickError ? err.code : undefined
    // this text is public
    const why = code === 'config' ? 'Redis could lose jobs, and the log has the remedy' : 'the queue does not respond'
    const text = code === 'github-unavailable' ? 'GitHub does not respond' : (notReady ?? why)
    answer(response, { status: 503, text: `not ready: ${text}` })
  }
}

async function listen(server: Server, { host, port }: ServerSettings): Promise<void> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : ''
    throw new BailiwickError('config', `cannot listen on HOST ${host} and PORT ${port}${code}`, {
      fix: 'set HOST and PORT to an address of this machine and a free port',
      cause,
    })
  }
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
  await closed
  clearTimeout(deadline)
}

function urlOf(server: Server, host: string): string {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The metrics, and the token that is required to read them. */
interface MetricsAccess {
  /** Secret. */
  readonly token: string
  /** In Prometheus' text format. */
  readonly render: () => Promise<{ readonly type: string; readonly text: string }>
}

/** Serves the metrics to requests with the token; any other request gets 404, as if there were no metrics. */
async function serveMetrics(
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
