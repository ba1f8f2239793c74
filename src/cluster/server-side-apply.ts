import type { Json } from '../kube/node.ts'
import type { ClusterClient } from './client.ts'
import { clusterError } from './cluster-error.ts'
import { METADATA_ONLY } from './read-live.ts'
import { FIELD_MANAGER, GUEST_MANAGER } from './take-over-patch.ts'

interface Applying {
  readonly user: string
  readonly path: string
  readonly body: Json
  /** Takes fields of other managers. */
  readonly force: boolean
  /** The object is not ours. */
  readonly guest?: boolean
  readonly dryRun: boolean
  /** The answer is the whole object, not its metadata alone. */
  readonly whole?: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * One server-side apply as the user; the object as it is afterwards, or would be.
 * Throws ClusterError for every refusal, 404 included.
 */
export async function serverSideApply(client: ClusterClient, applying: Applying): Promise<Json> {
  const { user, path, body, force, guest = false, dryRun, whole = false, signal } = applying
  const fieldManager = guest ? GUEST_MANAGER : FIELD_MANAGER
  const response = await client.request({ user }, 'PATCH', path, {
    query: { fieldManager, force: String(force), ...(dryRun ? { dryRun: 'All' } : {}) },
    contentType: 'application/apply-patch+yaml',
    ...(whole ? {} : { accept: METADATA_ONLY }),
    body,
    signal,
  })
  if (response.status === 404) throw clusterError(client.name, 404, response.body)
  return response.body
}
