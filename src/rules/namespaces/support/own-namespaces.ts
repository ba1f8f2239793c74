import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { shown } from '../../../facts/shown.ts'

/** The namespaces of a tenant on a cluster, as a message lists them; `none` where there is none. */
export function ownNamespaces(index: FleetIndex, cluster: string, tenant: string): string {
  return index.namespacesOf(cluster, tenant).map(shown).join(', ') || 'none'
}
