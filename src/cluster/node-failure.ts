import { BailiwickError } from '../errors.ts'
import type { ClusterClient } from './client.ts'
import { clusterIsReady } from './cluster-is-ready.ts'
import { failureScope } from './failure-scope.ts'

/**
 * The error as one of the node that met it. Throws it where it ends the whole run: the cluster's API is not ready, another
 * worker writes, or the run was told to stop.
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
