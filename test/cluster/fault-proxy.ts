import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request as forward } from 'node:https'
import { dirname, join } from 'node:path'
import type { TestCluster } from '../envtest/start.ts'

/** What a request meets in place of the API server's answer. */
export type Fault =
  | { readonly status: number; readonly retryAfter?: number; readonly text?: boolean }
  /** Nothing at all; the connection closed; the real answer, cut in the middle; done, and then the connection closed. */
  | 'hang'
  | 'reset'
  | 'half'
  | 'lost'

/** A request as the rule of a test sees it. */
export interface Seen {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** Impersonated; '' for the worker itself. */
  readonly user: string
}

export interface FaultProxy {
  /** The worker's kubeconfig, but through the proxy. */
  readonly kubeconfig: string
  /** Every request that came, in order. */
  readonly seen: Seen[]
  /** Which requests meet a fault; undefined: none. */
  rule: ((seen: Seen) => Fault | undefined) | undefined
  close(): Promise<void>
}

/** Stands between the worker and a real API server, with the server's own certificate. */
export async function startFaultProxy(server: TestCluster): Promise<FaultProxy> {
  const directory = dirname(server.workerKubeconfig)
  const read = (name: string) => readFileSync(join(directory, 'certs', name))
  const [cert, key] = [read('apiserver.crt'), read('apiserver.key')]
  const seen: Seen[] = []
  const proxy = createServer({ cert, key }, (incoming, outgoing) => {
    const one = described(incoming)
    seen.push(one)
    const fault = open.rule?.(one)
    if (fault === 'hang') return
    if (fault === 'reset') return void incoming.socket.destroy()
    if (typeof fault === 'object') return answer(outgoing, fault)
    const sent = forward(`${server.url}${incoming.url}`, {
      method: incoming.method,
      headers: incoming.headers,
      ca: cert,
    })
    sent.on('error', () => incoming.socket.destroy())
    sent.on('response', response => {
      if (fault !== 'lost') return relay(response, outgoing, fault === 'half')
      response.resume().on('end', () => incoming.socket.destroy())
    })
    incoming.pipe(sent)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
  const kubeconfig = join(directory, `proxy-${address.port}.kubeconfig`)
  const text = readFileSync(server.workerKubeconfig, 'utf8')
  writeFileSync(kubeconfig, text.replace(server.url, `https://127.0.0.1:${address.port}`), { mode: 0o600 })
  const open: FaultProxy = {
    kubeconfig,
    seen,
    rule: undefined,
    close: () =>
      new Promise(resolve => {
        proxy.close(() => resolve())
        proxy.closeAllConnections()
      }),
  }
  return open
}

function described({ url = '', method = '', headers }: IncomingMessage): Seen {
  const { pathname, searchParams } = new URL(url, 'https://proxy')
  return { method, path: pathname, query: searchParams, user: String(headers['impersonate-user'] ?? '') }
}

function answer(outgoing: ServerResponse, fault: Exclude<Fault, string>): void {
  if (fault.retryAfter !== undefined) outgoing.setHeader('Retry-After', String(fault.retryAfter))
  const message = `injected ${fault.status}`
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: fault.status, message }
  outgoing.writeHead(fault.status).end(fault.text ? message : JSON.stringify(status))
}

function relay(response: IncomingMessage, outgoing: ServerResponse, half: boolean): void {
  const chunks: Buffer[] = []
  response.on('data', (chunk: Buffer) => chunks.push(chunk))
  response.on('end', () => {
    const body = Buffer.concat(chunks)
    const { 'transfer-encoding': _chunked, ...headers } = response.headers
    outgoing.writeHead(response.statusCode ?? 502, { ...headers, 'content-length': body.length })
    if (!half) return void outgoing.end(body)
    outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy())
  })
}
