import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { at } from '../../../kube/node.ts'
import { tenantsOwnedBy } from './capsule-tenants.ts'

const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['labels', 'forbiddenLabels'],
  ['annotations', 'forbiddenAnnotations'],
])

/** Whether a Capsule Tenant that a node's identity owns forbids a label or annotation of Namespaces by name. */
export function deniedByCapsule(index: FleetIndex, node: FleetNode, part: string, key: string): boolean {
  const option = OPTIONS.get(part)
  if (option === undefined) return false
  return tenantsOwnedBy(index, node.cluster, node.identity).some(tenant => {
    const denied = at(tenant.root, ['spec', 'namespaceOptions', option, 'denied'])
    return denied?.type === 'list' && denied.items.some(item => item.type === 'scalar' && item.value === key)
  })
}
