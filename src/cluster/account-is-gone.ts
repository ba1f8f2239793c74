import type { ClusterClient } from './client.ts'
import { ClusterError } from './cluster-error.ts'
import { stringAt } from './json-at.ts'

const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/**
 * The user is a service account that the cluster does not have any more, asked as the worker. Of another user, and where
 * the worker may not ask, nobody knows: false.
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
