import { BailiwickError, type ErrorCode } from '../errors.ts'
import { ClusterError } from './cluster-error.ts'

/** What an error stops: one object, the node that the object is part of, or everything on the cluster. */
type FailureScope = 'object' | 'node' | 'cluster'

const SCOPES: Partial<Record<ErrorCode, FailureScope>> = {
  'cluster-forbidden': 'object',
  'cluster-invalid': 'object',
  'cluster-conflict': 'object',
  // no answer, or one that passes by itself: the API server as a whole is asked before anybody else is stopped
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
