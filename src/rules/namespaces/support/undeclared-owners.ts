import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetConfig } from '../../../fleet/model/fleet-config.ts'
import { declaredIn } from '../../../fleet/tenancy/declared-in.ts'

/**
 * Tenants by the namespaces of a cluster that the fleet's own file makes the platform's once a change of it is merged: an
 * entry that goes or no longer names the namespace or the cluster, or that declares somebody to be the platform. What a
 * label or a Capsule Tenant gives stays, unless the file declares that tenant to be the platform; what the file gives to
 * another tenant is that one's.
 */
export function undeclaredOwners(
  cluster: string,
  config: FleetConfig,
  index: FleetIndex,
  before: FleetIndex,
): ReadonlyMap<string, string> {
  const proposed = index.proposed()
  const lost = new Map<string, string>()
  // a file that cannot be read is an error already
  if (proposed.error) return lost
  const [was, is] = [declaredIn(config, cluster), declaredIn(proposed, cluster)]
  const lose = (namespace: string, isOver: boolean) => {
    const tenant = index.ownerOf(cluster, namespace) ?? before.ownerOf(cluster, namespace)
    if (tenant === undefined || is.owners.has(namespace)) return
    if (isOver || index.givenTo(cluster, namespace) === undefined) lost.set(namespace, tenant)
  }
  for (const namespace of was.owners.keys()) lose(namespace, false)
  for (const namespace of is.platformNamespaces) if (!was.platformNamespaces.has(namespace)) lose(namespace, false)
  for (const tenant of is.platformTenants) {
    if (was.platformTenants.has(tenant)) continue
    const all = [index, before].flatMap(one => one.namespacesOf(cluster, tenant))
    for (const namespace of all) lose(namespace, true)
  }
  return lost
}
