import { Agent } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../errors.ts'
import type { Actor, ClusterClient, RequestOptions } from './client.ts'
import { clusterError } from './cluster-error.ts'
import type { ClusterBinding } from './clusters-file.ts'
import { readCredentials } from './credentials.ts'
import { createDiscovery } from './discovery.ts'
import { follow } from './follow.ts'
import { impersonatedUser } from './impersonated-user.ts'
import { stringAt } from './json-at.ts'
import { type Call, send } from './send.ts'
import { Slots } from './slots.ts'

const TIMEOUT_MS = 30_000
const CONNECTIONS = 16
/** A request that takes longer goes on beside the 16, on a connection of its own. */
const SLOW_MS = 2000
const SLOW = 64
/** How often a request is sent where it is refused as one too many, and where the API server is too busy for everybody. */
const ATTEMPTS = { refused: 4, busy: 10 }
const BUSY_WAIT_S = 5

/** A client for the bound cluster. Reads credentials, does not talk to the cluster yet. Throws `config` (see readCredentials). */
export async function connect(binding: ClusterBinding, options: { timeoutMs?: number } = {}): Promise<ClusterClient> {
  const credentials = await readCredentials(binding)
  // one more than there are turns: what goes ahead finds a connection
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS + SLOW + 1, scheduling: 'lifo' })
  const slots = new Slots({ count: CONNECTIONS, slowMs: SLOW_MS, slow: SLOW })
  let quietUntil = 0

  const exchange = exchanger(credentials, agent)
  const inTurn = async (call: Call, within: RequestOptions['within']) => {
    for (;;) {
      while (Date.now() < quietUntil && !call.signal?.aborted) await pause(quietUntil - Date.now(), call.signal)
      const reply = await slots.run(async () =>
        Date.now() < quietUntil && !call.signal?.aborted ? undefined : await exchange(call, within),
      )
      if (reply) return reply
    }
  }
  const request: ClusterClient['request'] = async (actor, method, path, more = {}) => {
    const call: Call = {
      cluster: binding.name,
      url: address(credentials.server, path, more.query),
      method,
      headers: headersOf(actor, more),
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      signal: more.signal,
      ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) }),
    }
    for (let attempt = 1; ; attempt++) {
      const reply = await (more.ahead ? exchange(call, more.within) : inTurn(call, more.within))
      if (reply.status !== 429) slots.recover()
      if ((reply.status >= 200 && reply.status < 300) || reply.status === 404)
        return { status: reply.status, body: reply.body }
      // priority and fairness answers in plain text, and everybody slows down; a Status is about this request
      const isBusy = stringAt(reply.body, 'kind') !== 'Status'
      if (reply.status !== 429 || attempt >= ATTEMPTS[isBusy ? 'busy' : 'refused'] || more.signal?.aborted)
        throw clusterError(binding.name, reply.status, reply.body)
      const wait = Math.min(reply.retryAfter || 1, BUSY_WAIT_S) * 1000
      if (isBusy) {
        // all that were under way are told the same: that is one reason to slow down, not sixteen
        if (Date.now() >= quietUntil) slots.halve()
        quietUntil = Math.max(quietUntil, Date.now() + wait)
      }
      await pause(wait, more.signal)
    }
  }
  return {
    name: binding.name,
    namespace: binding.namespace,
    discovery: createDiscovery(binding.name, request),
    request,
    stream: async (actor, path, more, onItem) => {
      const call = { url: address(credentials.server, path, more.query), headers: headersOf(actor, more) }
      await follow({ cluster: binding.name, signal: more.signal, ...call }, await credentials.access(), onItem)
    },
    close: () => agent.destroy(),
  }
}

/** Sends a call; once more with new credentials where the API server does not accept the old ones. */
function exchanger(credentials: Awaited<ReturnType<typeof readCredentials>>, agent: Agent) {
  return async (call: Call, within: RequestOptions['within']) => {
    const attempt = async (renew: boolean) => {
      const access = await credentials.access(renew)
      return send(within ? limitedCall(call, within()) : call, access, agent)
    }
    const reply = await attempt(false)
    return reply.status === 401 ? await attempt(true) : reply
  }
}

/** The API server ends a request after the `timeout` of its query, whether or not the client still waits. */
function limitedCall(call: Call, ms: number): Call {
  const url = new URL(call.url)
  url.searchParams.set('timeout', `${Math.max(1, Math.floor(ms))}ms`)
  return { ...call, url, timeoutMs: Math.min(call.timeoutMs, ms) }
}

/** Ends early when the request is told to stop. */
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

function address(server: URL, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(server)
  const prefix = server.pathname.replace(/\/$/, '')
  url.pathname = `${prefix}${path}`
  if (url.pathname !== `${prefix}${path}`) throw new BailiwickError('internal', `${path} is not a path of the API`)
  for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value)
  return url
}
