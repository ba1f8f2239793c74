import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as forward } from 'node:https'
import { type AddressInfo, connect, createServer as createRelay, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import type { TestCluster } from '../../tools/envtest/start.ts'

/** What a request meets in place of the API server's answer. */
export type Fault =
  | { readonly status: number; readonly retryAfter?: number; readonly text?: boolean; readonly location?: string }
  /** Nothing at all; the connection closed; bytes that are no TLS; done, and then the connection closed. */
  | 'hang'
  | 'reset'
  | 'tls'
  | 'lost'
  /** The real answer, but later. */
  | { readonly after: Promise<unknown> }
  /** The real answer: cut in the middle, with a length that is too small or too large, as half of its JSON, or as `{}`. */
  | 'half'
  | 'short'
  | 'long'
  | 'cut'
  | 'empty'

/** A request as the rule of a test sees it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** Impersonated; '' for the worker itself. */
  readonly user: string
  readonly contentType: string
  readonly body: string
}

/** The API server's answer to a request, whether the worker got it or not. */
export interface Answered {
  readonly seen: Seen
  readonly status: number
  readonly body: string
}

export type Moment = 'sent' | 'answered'

export interface FaultProxy {
  /** The worker's kubeconfig, but through the proxy. */
  readonly kubeconfig: string
  /** Every request that came, in order. */
  readonly seen: Seen[]
  /** Every answer that the API server gave, in order; of watches none. */
  readonly answered: Answered[]
  /** Which requests meet a fault; undefined: none. */
  rule: ((seen: Seen) => Fault | undefined) | undefined
  /**
   * Told when a request comes (`sent`: the API server does not have it yet) and when it is answered (the worker does not
   * have the answer yet), with its number since the last `reset`. What is lost goes no further.
   */
  moment: ((number: number, when: Moment) => Promise<'lost' | undefined> | undefined) | undefined
  /** Forgets what it saw. */
  reset(): void
  close(): Promise<void>
}

/** Stands between the worker and a real API server, with the server's own certificate. */
export async function startFaultProxy(server: TestCluster): Promise<FaultProxy> {
  const directory = dirname(server.workerKubeconfig)
  const read = (name: string) => readFileSync(join(directory, 'certs', name))
  const [cert, key] = [read('apiserver.crt'), read('apiserver.key')]
  const raw = new Map<number, Socket>()
  let count = 0
  const proxy = createServer({ cert, key }, async (incoming, outgoing) => {
    const one = described(incoming, await bodyOf(incoming))
    const number = ++count
    open.seen.push(one)
    if ((await open.moment?.(number, 'sent')) === 'lost') return void incoming.socket.destroy()
    const rule = open.rule?.(one)
    const isLater = typeof rule === 'object' && 'after' in rule
    if (isLater) await rule.after
    // told to stop while it waited
    if (incoming.socket.destroyed) return
    const fault = isLater ? undefined : rule
    if (fault === 'hang') return
    if (fault === 'reset') return void incoming.socket.destroy()
    if (fault === 'tls') return breakTls(raw.get(incoming.socket.remotePort ?? 0))
    if (typeof fault === 'object') return answer(outgoing, fault)
    const { method, headers } = incoming
    const sent = forward(`${server.url}${incoming.url}`, { method: method!, headers, ca: cert })
    sent.on('error', () => incoming.socket.destroy())
    sent.on('response', async response => {
      if (one.query.has('watch')) return stream(response, outgoing, fault)
      const body = await bodyOf(response)
      open.answered.push({ seen: one, status: response.statusCode ?? 0, body })
      if ((await open.moment?.(number, 'answered')) === 'lost') return void incoming.socket.destroy()
      if (fault === 'lost') return void incoming.socket.destroy()
      relay(response, Buffer.from(body), outgoing, fault)
    })
    sent.end(one.body)
  })
  const front = createRelay(socket => {
    const inner = connect((proxy.address() as AddressInfo).port, '127.0.0.1', () => raw.set(inner.localPort!, socket))
    inner.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('error', () => inner.destroy()).on('close', () => inner.destroy())
    socket.pipe(inner).pipe(socket)
  })
  const port = await listen(front, proxy)
  const kubeconfig = join(directory, `proxy-${port}.kubeconfig`)
  const text = readFileSync(server.workerKubeconfig, 'utf8')
  writeFileSync(kubeconfig, text.replace(server.url, `https://127.0.0.1:${port}`), { mode: 0o600 })
  const open: FaultProxy = {
    kubeconfig,
    seen: [],
    answered: [],
    rule: undefined,
    moment: undefined,
    reset() {
      count = 0
      open.seen.length = 0
      open.answered.length = 0
    },
    async close() {
      front.close()
      for (const socket of raw.values()) socket.destroy()
      await new Promise<void>(resolve => {
        proxy.close(() => resolve())
        proxy.closeAllConnections()
      })
    },
  }
  return open
}

async function listen(front: Server, proxy: Server): Promise<number> {
  for (const one of [proxy, front]) await new Promise<void>(resolve => one.listen(0, '127.0.0.1', resolve))
  return (front.address() as AddressInfo).port
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of message) chunks.push(chunk)
  } catch {
    // whoever sent it is gone
  }
  return Buffer.concat(chunks).toString()
}

function described({ url = '', method = '', headers }: IncomingMessage, body: string): Seen {
  const { pathname, searchParams } = new URL(url, 'https://proxy')
  return {
    ...{ method, path: pathname, query: searchParams, body },
    user: String(headers['impersonate-user'] ?? ''),
    contentType: headers['content-type'] ?? '',
  }
}

function answer(outgoing: ServerResponse, fault: Extract<Fault, { status: number }>): void {
  if (fault.retryAfter !== undefined) outgoing.setHeader('Retry-After', String(fault.retryAfter))
  if (fault.location !== undefined) outgoing.setHeader('Location', fault.location)
  const message = `injected ${fault.status}`
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: fault.status, message }
  outgoing.writeHead(fault.status).end(fault.text ? message : JSON.stringify(status))
}

function breakTls(socket: Socket | undefined): void {
  socket?.unpipe()
  socket?.end('these bytes are no record of TLS')
}

/** A watch goes on for minutes: its faults are a line that is cut, with and without an end, and one that says nothing. */
function stream(response: IncomingMessage, outgoing: ServerResponse, fault: Fault | undefined): void {
  outgoing.on('close', () => response.destroy())
  response.on('error', () => outgoing.destroy())
  outgoing.writeHead(response.statusCode ?? 502, response.headers)
  outgoing.flushHeaders()
  if (fault === undefined) return void response.pipe(outgoing)
  if (fault === 'empty') return void outgoing.end('{}\n')
  if (fault === 'cut') return void outgoing.end('{"type":"MODIFIED","object":{"kind":\n')
  outgoing.write('{"type":"MODIFIED","object":', () => outgoing.destroy())
}

function relay(response: IncomingMessage, body: Buffer, outgoing: ServerResponse, fault: Fault | undefined): void {
  const { 'transfer-encoding': _chunked, ...headers } = response.headers
  const half = body.subarray(0, Math.floor(body.length / 2))
  const send = (length: number) =>
    outgoing.writeHead(response.statusCode ?? 502, { ...headers, 'content-length': length })
  if (fault === 'half') send(body.length).write(half, () => outgoing.destroy())
  else if (fault === 'long') send(body.length + 10).write(body, () => outgoing.destroy())
  else if (fault === 'short') {
    outgoing.strictContentLength = false
    send(half.length).end(body)
  } else if (fault === 'cut') send(half.length).end(half)
  else if (fault === 'empty') send(2).end('{}')
  else send(body.length).end(body)
}
