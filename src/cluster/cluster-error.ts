import { BailiwickError, type ErrorCode, type ErrorDetails } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { itemsAt, stringAt } from './json-at.ts'

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
  readonly said: string
  readonly causes: readonly Cause[]
}

/** The API server answered, and the answer is no. */
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
 * The error for an answer that is no success: 403 `cluster-forbidden`, 409 `cluster-conflict`, other 4xx
 * `cluster-invalid`, and what passes by itself (401 while a token rotates, 408, 429, 5xx) `cluster-unavailable`.
 */
export function clusterError(cluster: string, status: number, body: Json): ClusterError {
  const text = clean(stringAt(body, 'message') || `HTTP status ${status}`)
  const causes = itemsAt(body, 'details', 'causes').map(cause => ({
    reason: stringAt(cause, 'reason'),
    field: clean(stringAt(cause, 'field')),
    message: clean(stringAt(cause, 'message')),
  }))
  const refusal = { status, reason: clean(stringAt(body, 'reason')), said: text, causes }
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
