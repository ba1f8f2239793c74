import { BailiwickError, type ErrorCode, type ErrorDetails } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import type { ClusterClient } from './client.ts'
import { itemsAt, stringAt } from './json.ts'

const MAX_MESSAGE = 2000

/** One reason of a refusal, as the API server's Status lists it. */
interface Cause {
  readonly reason: string
  readonly field: string
  readonly message: string
}

/** What the API server answered. */
export interface Refusal {
  /** Of HTTP. */
  readonly status: number
  /** Of the Status, as `Forbidden`; '' where it gives none. */
  readonly reason: string
  /** Its message: one line, limited. */
  readonly text: string
  readonly causes: readonly Cause[]
}

/** The API server answered with a refusal. */
export class ClusterError extends BailiwickError {
  readonly refusal: Refusal

  constructor(code: ErrorCode, message: string, refusal: Refusal, details: ErrorDetails = {}) {
    super(code, message, details)
    this.refusal = refusal
  }

  get status(): number {
    return this.refusal.status
  }

  get causes(): readonly Cause[] {
    return this.refusal.causes
  }
}

/**
 * The error for an answer without success: 403 `cluster-forbidden`, 409 `cluster-conflict`, other 4xx
 * `cluster-invalid`, and what passes by itself (401 while a token rotates, 408, 429, 5xx) `cluster-unavailable`.
 */
export function clusterError(cluster: string, status: number, body: Json): ClusterError {
  const text = clean(stringAt(body, 'message') || `HTTP status ${status}`)
  const causes = itemsAt(body, 'details', 'causes').map(cause => ({
    reason: stringAt(cause, 'reason'),
    field: clean(stringAt(cause, 'field')),
    message: clean(stringAt(cause, 'message')),
  }))
  const refusal = { status, reason: clean(stringAt(body, 'reason')), text: text, causes }
  if (status === 401) {
    const message = `cluster ${cluster} does not accept the worker's credentials: ${text}`
    return new ClusterError('cluster-unavailable', message, refusal, {
      fix: 'Renew the token or certificate of the kubeconfig that clusters.yaml names.',
    })
  }
  const code = codeOf(status)
  const message = code === 'cluster-unavailable' ? `cluster ${cluster} answers ${status}: ${text}` : text
  return new ClusterError(code, message, refusal)
}

function codeOf(status: number): ErrorCode {
  if (status === 403) return 'cluster-forbidden'
  if (status === 409) return 'cluster-conflict'
  if (status === 408 || status === 429 || status >= 500) return 'cluster-unavailable'
  return 'cluster-invalid'
}

/** The text quotes what tenants wrote: one line, no control characters, limited. */
function clean(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}… (${line.length} characters)` : line
}

/** What an error stops: one object, the node that the object is part of, or everything on the cluster. */
type FailureScope = 'object' | 'node' | 'cluster'

const SCOPES: Partial<Record<ErrorCode, FailureScope>> = {
  'cluster-forbidden': 'object',
  'cluster-invalid': 'object',
  'cluster-conflict': 'object',
  // no answer, or one that passes by itself: check the API server as a whole before stopping other nodes
  'cluster-unavailable': 'node',
  // another worker applies, another controller applies, or the connection is not usable at all
  'cluster-fenced': 'cluster',
  'cluster-controller-active': 'cluster',
  config: 'cluster',
}

/**
 * What an error of the cluster's API stops. A bug counts against the node that met it: hostile input of one tenant must
 * not end the run of the others.
 */
export function failureScope(error: unknown): FailureScope {
  if (!(error instanceof BailiwickError)) return 'node'
  if (error instanceof ClusterError) {
    // the worker's own credentials
    if (error.status === 401) return 'cluster'
    // the API server's answer for an admission webhook that fails
    if (error.status === 500) return 'object'
  }
  return SCOPES[error.code] ?? 'node'
}

const PROBE_MS = 5_000
const KEPT_MS = 1_000

const probes = new WeakMap<ClusterClient, { readonly ready: Promise<boolean>; readonly until: () => number }>()

/**
 * Whether the API server as a whole works: `/readyz`, as the worker. One request serves all callers at the same time
 * and within a second after the answer. No answer within 5 s is a no.
 */
export function clusterIsReady(client: ClusterClient): Promise<boolean> {
  const last = probes.get(client)
  if (last && Date.now() < last.until()) return last.ready
  let until = Number.POSITIVE_INFINITY
  const ready = probe(client).finally(() => {
    until = Date.now() + KEPT_MS
  })
  probes.set(client, { ready, until: () => until })
  return ready
}

async function probe(client: ClusterClient): Promise<boolean> {
  const options = { accept: 'text/plain', ahead: true, signal: AbortSignal.timeout(PROBE_MS) }
  try {
    return (await client.request('worker', 'GET', '/readyz', options)).status === 200
  } catch (error) {
    if (error instanceof BailiwickError) return false
    throw error
  }
}

/**
 * The error as one of the node that met it. Throws it where it ends the whole run: the cluster's API is not ready,
 * another worker writes, or the run was aborted.
 */
export async function nodeFailure(
  client: ClusterClient,
  error: unknown,
  signal?: AbortSignal,
): Promise<BailiwickError> {
  if (signal?.aborted || failureScope(error) === 'cluster') throw error
  if (!(error instanceof BailiwickError)) {
    return new BailiwickError('internal', 'Bailiwick itself failed at this Kustomization', { cause: error })
  }
  if (error.code === 'cluster-unavailable' && !(await clusterIsReady(client))) throw error
  return error
}

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/**
 * The user is a service account that the cluster does not have any more; the worker asks. False for other users, and
 * where the worker may not ask.
 */
export async function accountIsGone(client: ClusterClient, user: string): Promise<boolean> {
  const [, namespace, name] = ACCOUNT.exec(user) ?? []
  if (namespace === undefined || name === undefined) return false
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}`
  try {
    const { status, body } = await client.request('worker', 'GET', path)
    // not the 404 of something else
    return status === 404 && stringAt(body, 'details', 'name') === name
  } catch (error) {
    if (error instanceof ClusterError && error.status === 403) return false
    throw error
  }
}
