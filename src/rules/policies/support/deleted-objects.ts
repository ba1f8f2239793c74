import { kindOf } from '../../../facts/kind-of.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'
import type { RuleContext } from '../../model/rule.ts'

/** The objects that Flux deletes because a node that prunes does not render them any more. */
export function deletedObjects(node: FleetNode, { index, before }: RuleContext): readonly KubeObject[] {
  if (!before || !node.prune) return []
  return before.objectsOf(node.key).filter(object => {
    const { namespace, name } = idOf(object)
    return index.versionsOf(node.cluster, kindOf(object), namespace, name).length === 0
  })
}
