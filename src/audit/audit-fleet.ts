import { FleetIndex } from '../facts/fleet-index.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { accountItems, statusItems } from './account-items.ts'
import type { ClusterAudit } from './audit-item.ts'
import { capsuleItems } from './capsule-items.ts'
import { fluxItems } from './flux-items.ts'
import { imageItems } from './image-items.ts'
import { policyItems } from './policy-items.ts'
import { remoteBaseItems, sourceItems } from './source-items.ts'
import { verificationItems } from './verification-items.ts'

/** Audits the settings that isolate tenants (all, or these) on each of these clusters, as far as the fleet is visible. Pure. */
export function auditFleet(fleet: Fleet, names: readonly string[], tenants?: ReadonlySet<string>): ClusterAudit[] {
  const index = new FleetIndex(fleet)
  const asked = fleet.clusters.filter(({ name, hub }) => names.includes(name) && hub === undefined)
  return asked.map(cluster => {
    const owned = [...(cluster.owners ?? [])].filter(([, tenant]) => !tenants || tenants.has(tenant))
    const audited = {
      cluster,
      index,
      nodes: fleet.nodes.filter(node => node.cluster === cluster.name),
      namespaces: owned.map(([namespace]) => namespace).sort(),
    }
    const items = [
      ...fluxItems(audited),
      ...accountItems(audited),
      ...statusItems(audited),
      ...capsuleItems(audited),
      ...policyItems(audited),
      ...imageItems(audited),
      ...remoteBaseItems(audited),
      ...sourceItems(audited),
      ...verificationItems(audited),
    ]
    return { cluster: cluster.name, path: cluster.path, items }
  })
}
