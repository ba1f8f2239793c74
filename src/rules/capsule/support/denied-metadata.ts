import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { at } from '../../../kube/node.ts'
import { forbiddenKey } from './capsule-list.ts'
import { tenantsOwnedBy, webhookVersion } from './capsule-tenants.ts'

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['labels', 'forbiddenLabels'],
  ['annotations', 'forbiddenAnnotations'],
])

/** Capsule's refusal of a label or annotation of a Namespace, where a Tenant that a node's identity owns forbids it. */
export function deniedByCapsule(index: FleetIndex, node: FleetNode, part: string, key: string): string | undefined {
  const option = OPTIONS.get(part)
  if (option === undefined) return undefined
  const version = webhookVersion(index, node.cluster)
  for (const tenant of tenantsOwnedBy(index, node.cluster, node.identity)) {
    const found = forbiddenKey(at(tenant.root, ['spec', 'namespaceOptions', option]), [key], version)
    if (found) return `namespace ${part} validation failed: ${found.words}`
  }
  return undefined
}
