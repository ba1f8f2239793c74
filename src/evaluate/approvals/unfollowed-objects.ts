import { kindOf } from '../../facts/kind-of.ts'
import { shownName, shownObject } from '../../facts/shown.ts'
import { sourceKinds } from '../../facts/source-fields.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { HELM_RELEASE, KUSTOMIZATION } from '../../flux/kinds.ts'
import { at, canonical } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { onePerGroup } from './one-per-group.ts'

const KINDS = new Set([KUSTOMIZATION, HELM_RELEASE, ...sourceKinds])

/**
 * Objects of Flux that the platform newly applies by a kubeconfig to a cluster on which no Flux is known: if one runs there,
 * what it makes of them is not evaluated.
 */
export function unfollowedObjects(head: Fleet, base: Fleet): RequiredApproval[] {
  const now = head.nodes.flatMap(objectsBeyond)
  if (now.length === 0) return []
  const known = new Set(base.nodes.flatMap(objectsBeyond).map(({ key }) => key))
  return onePerGroup(
    now.filter(({ key }) => !known.has(key)),
    ({ object }) => object.root.origin.file,
    ({ node, object }, others) => {
      const { kind, namespace, name } = idOf(object)
      const message = `${shownObject(kind, namespace, name)}${others} would be applied to ${shownName(node.cluster)}, on which no Flux is known: what a Flux there makes of it is not evaluated`
      return { rule: 'kubeconfig-ref', path: object.root.origin.file, message }
    },
  )
}

function objectsBeyond(node: FleetNode): { node: FleetNode; object: KubeObject; key: string }[] {
  if (node.hub === undefined || node.tenant !== undefined) return []
  return node.objects.flatMap(object => {
    const spec = at(object.root, ['spec'])
    const { namespace, name } = idOf(object)
    const key = JSON.stringify([node.cluster, kindOf(object), namespace, name, spec && canonical(spec)])
    return KINDS.has(kindOf(object)) ? [{ node, object, key }] : []
  })
}
