import { shownName, shownObject } from '../../facts/shown.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { membersOf } from '../../fleet/tenancy/delegated.ts'
import { canonical } from '../../kube/node.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'

/** What one repository changes in the namespaces of several tenants: each of them may refuse the other's content. */
export function sharedNodes(head: Fleet, base: Fleet): RequiredApproval[] {
  const shared = head.nodes.filter(({ tenant }) => tenant !== undefined && membersOf(tenant).length > 1)
  if (shared.length === 0) return []
  const before = new Map(base.nodes.map(node => [node.key, node]))
  return shared.flatMap(node => {
    const was = before.get(node.key)
    if (was && was.tenant === node.tenant && was.digest === node.digest) return []
    const { namespace, name, cluster } = node
    const message = `${shownObject('Kustomization', namespace, name)} on cluster ${shownName(cluster)} applies one repository in the namespaces of several tenants`
    return [{ rule: 'namespace-confinement', path: changedFile(node, was), message }]
  })
}

/** Where the first object that is not as before is written, or the Kustomization. */
function changedFile({ objects, kustomization }: FleetNode, was: FleetNode | undefined): string {
  const known = new Set(was?.objects.map(object => canonical(object.root)))
  const changed = was && objects.find(object => !known.has(canonical(object.root)))
  return (changed ?? kustomization).root.origin.file
}
