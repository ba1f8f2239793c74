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

/** The API server answered, and the answer is no. `status` is its HTTP status. */
export class ClusterError extends BailiwickError {
  readonly status: number
  readonly causes: readonly Cause[]

  constructor(code: ErrorCode, message: string, status: number, causes: readonly Cause[], details: ErrorDetails = {}) {
    super(code, message, details)
    this.status = status
    this.causes = causes
  }
}

/**
 * The error for an answer that is no success: 403 `cluster-forbidden`, 409 `cluster-conflict`, other 4xx
 * `cluster-invalid`, and what passes by itself (401 while a token rotates, 408, 429, 5xx) `cluster-unavailable`.
 */
export function clusterError(cluster: string, status: number, body: Json): ClusterError {
  const said = clean(stringAt(body, 'message') || `HTTP status ${status}`)
  const causes = itemsAt(body, 'details', 'causes').map(cause => ({
    reason: stringAt(cause, 'reason'),
    field: clean(stringAt(cause, 'field')),
    message: clean(stringAt(cause, 'message')),
  }))
  if (status === 401) {
    const message = `cluster ${cluster} does not accept the worker's credentials: ${said}`
    return new ClusterError('cluster-unavailable', message, status, causes, {
      fix: 'Renew the token or certificate of the kubeconfig that clusters.yaml names.',
    })
  }
  const code = codeOf(status)
  const message = code === 'cluster-unavailable' ? `cluster ${cluster} answers ${status}: ${said}` : said
  return new ClusterError(code, message, status, causes)
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
