import type { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import { type Actor, type ClusterClient, createDiscovery, type RequestOptions } from './client.ts'
import { clusterError } from './cluster-error.ts'
import type { ClusterBinding } from './clusters-file.ts'
import { type RequestCredentials, readCredentials } from './credentials.ts'
import { stringAt } from './json.ts'
import { ApiAgent, type Call, follow, type ServerAddress, send, serverAddressOf } from './send.ts'
import { Slots } from './slots.ts'

/** A client for the bound cluster. Reads credentials, does not talk to the cluster yet. Throws `config` (see readCredentials). */
export async function connect(binding: ClusterBinding, options: { timeoutMs?: number } = {}): Promise<ClusterClient> {
  const { name, namespace } = binding
  const { server, access } = await readCredentials(binding)
  return apiClient({ name, namespace, server: apiServer(server), access, timeoutMs: options.timeoutMs })
}

const TIMEOUT_MS = 30_000
const CONNECTIONS = 16
/** A request that takes longer goes on beside the 16, on a connection of its own. */
const SLOW_MS = 2000
const SLOW = 64
/** How often a request is sent that is refused as one too many, and while the API server is too busy. */
const ATTEMPTS = { refused: 4, busy: 10 }
const BUSY_WAIT_S = 5

/** One API server: a limited number of kept connections, shared by all clients with credentials for it. */
export interface ApiServer {
  readonly url: URL
  readonly address: ServerAddress
  readonly agent: Agent
  readonly slots: Slots
  /** Too busy until then. */
  quietUntil: number
}

/** Opens nothing yet. */
export function apiServer(url: URL): ApiServer {
  // one more than there are turns: what goes ahead finds a connection
  const agent = new ApiAgent({ keepAlive: true, maxSockets: CONNECTIONS + SLOW + 1, scheduling: 'lifo' })
  const slots = new Slots({ count: CONNECTIONS, slowMs: SLOW_MS, slow: SLOW })
  return { url, address: serverAddressOf(url), agent, slots, quietUntil: 0 }
}

interface ApiClientSettings extends Pick<ClusterClient, 'name' | 'namespace'> {
  readonly server: ApiServer
  /** With `renew`, the known credentials were rejected. */
  readonly access: (renew?: boolean) => Promise<RequestCredentials>
  readonly timeoutMs?: number | undefined
  /** The error for an answer without success. */
  readonly refused?: (status: number, body: Json) => BailiwickError
}

/** A client of an API server by some credentials. `close` closes the server for all. */
export function apiClient(settings: ApiClientSettings): ClusterClient {
  const { name, namespace, server, access, timeoutMs = TIMEOUT_MS } = settings
  const { agent, slots } = server
  const refused = settings.refused ?? ((status, body) => clusterError(name, status, body))

  const exchange = exchanger(access, agent)
  const inTurn = async (call: Call, more: RequestOptions) => {
    for (;;) {
      while (Date.now() < server.quietUntil && !call.signal?.aborted)
        await pause(server.quietUntil - Date.now(), call.signal)
      const reply = await slots.run(async () =>
        Date.now() < server.quietUntil && !call.signal?.aborted ? undefined : await exchange(call, more),
      )
      if (reply) return reply
    }
  }
  const request: ClusterClient['request'] = async (actor, method, path, more = {}) => {
    const call: Call = {
      cluster: name,
      address: server.address,
      path: address(server.url, path),
      query: queryOf(more.query),
      method,
      headers: headersOf(actor, more),
      timeoutMs,
      signal: more.signal,
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
    }
    for (let attempt = 1; ; attempt++) {
      const reply = await (more.ahead ? exchange(call, more) : inTurn(call, more))
      if (reply.status !== 429) slots.recover()
      if ((reply.status >= 200 && reply.status < 300) || reply.status === 404) return answerOf(call, reply)
      // priority and fairness answers in plain text, and all callers slow down; a Status is about this request
      const isBusy = stringAt(reply.body, 'kind') !== 'Status'
      if (reply.status !== 429 || attempt >= ATTEMPTS[isBusy ? 'busy' : 'refused'] || more.signal?.aborted)
        throw refused(reply.status, reply.body)
      more.onSent?.(false)
      const wait = Math.min(reply.retryAfter || 1, BUSY_WAIT_S) * 1000
      if (isBusy) {
        // all that were under way get the same answer: that is one reason to slow down, not sixteen
        if (Date.now() >= server.quietUntil) slots.halve()
        server.quietUntil = Math.max(server.quietUntil, Date.now() + wait)
      }
      await pause(wait, more.signal)
    }
  }
  return {
    name,
    namespace,
    discovery: createDiscovery(name, request),
    request,
    stream: async (actor, path, more, onItem) => {
      const url = new URL(`${address(server.url, path)}${queryOf(more.query)}`, server.url)
      const call = { url, headers: headersOf(actor, more) }
      await follow({ cluster: name, signal: more.signal, ...call }, await access(), onItem)
    },
    close: () => agent.destroy(),
  }
}

/**
 * Every answer of an API server has a kind, except requested text, its version, and a path that it does not serve.
 * Throws `cluster-unavailable` for others: a load balancer's answer is neither an empty list nor a deletion.
 */
function answerOf({ cluster, method, path, headers }: Call, { status, body }: Awaited<ReturnType<typeof send>>) {
  const isFree = headers.Accept === 'text/plain' || (status === 404 && method === 'GET' && path.includes('/apis/'))
  const isVersion = path === '/version' && stringAt(body, 'gitVersion') !== ''
  if (isFree || isVersion || stringAt(body, 'kind') !== '') return { status, body }
  const message = `cluster ${cluster}, ${method} ${path}: the answer is not an object of Kubernetes: something else answers at this address`
  throw new BailiwickError('cluster-unavailable', message)
}

/** Sends a call; once more with new credentials where the API server does not accept the old ones. */
function exchanger(access: ApiClientSettings['access'], agent: Agent) {
  return async (call: Call, { within, onSent }: RequestOptions) => {
    const attempt = async (renew: boolean) => {
      const credentials = await access(renew)
      onSent?.(true)
      return send(within ? limitedCall(call, within()) : call, credentials, agent)
    }
    const reply = await attempt(false)
    return reply.status === 401 ? await attempt(true) : reply
  }
}

/** The API server ends a request after the `timeout` of its query, whether or not the client still waits. */
function limitedCall(call: Call, ms: number): Call {
  const timeout = `timeout=${Math.max(1, Math.floor(ms))}ms`
  const query = `${call.query}${call.query === '' ? '?' : '&'}${timeout}`
  return { ...call, query, timeoutMs: Math.min(call.timeoutMs, ms) }
}

/** Ends early when the request is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => {})
}

function headersOf(actor: Actor, { body, contentType, accept }: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = { 'User-Agent': 'bailiwick' }
  if (accept !== undefined) headers.Accept = accept
  if (body !== undefined) headers['Content-Type'] = contentType ?? 'application/json'
  if (actor !== 'worker') headers['Impersonate-User'] = impersonatedUser(actor.user)
  return headers
}

/** A path that a URL keeps as it is. */
const PLAIN = /^(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)+$/

/** The path on that server. Throws `internal` for one that would lead elsewhere. */
function address(server: URL, path: string): string {
  const whole = `${server.pathname.replace(/\/$/, '')}${path}`
  if (PLAIN.test(whole)) return whole
  const url = new URL(server)
  url.pathname = whole
  if (url.pathname !== whole) throw new BailiwickError('internal', `${path} is not a path of the API`)
  return whole
}

function queryOf(query: Readonly<Record<string, string>> = {}): string {
  const fields = Object.entries(query).map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`)
  return fields.length === 0 ? '' : `?${fields.join('&')}`
}

const LABEL = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?'
const ACCOUNT = new RegExp(`^system:serviceaccount:${LABEL}:${LABEL}(?:\\.${LABEL})*$`)
const RECONCILER = new RegExp(`^gotk:${LABEL}:reconciler$`)
const LONGEST = 'system:serviceaccount:'.length + 63 + 1 + 253

/**
 * The user for the Impersonate-User header: a service account, or the user that `flux create tenant` binds.
 * Throws `cluster-invalid` for everything else, the empty name above all: without the header the request would run
 * with the worker's own rights (CVE-2026-23990), and a line break would add headers.
 */
export function impersonatedUser(user: string): string {
  if (user.length <= LONGEST && (ACCOUNT.test(user) || RECONCILER.test(user))) return user
  throw new BailiwickError('cluster-invalid', `cannot act as user ${JSON.stringify(user.slice(0, 200))}`, {
    rule: 'worker-impersonate-nonempty',
    fix: 'Name a service account: spec.serviceAccountName of the Kustomization, lower-case letters, digits, "-" and ".".',
  })
}
