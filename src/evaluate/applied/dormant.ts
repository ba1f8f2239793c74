import { HeldNodes, isMarked } from '../../facts/held-nodes.ts'
import { kindOf } from '../../facts/kind-of.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { fluxKind } from '../../flux/kinds.ts'
import { at, isTrue, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Finding } from '../../rules/model/finding.ts'

type Where = Pick<Finding, 'node' | 'object'>

/**
 * Tells what of a fleet git holds and Flux does not apply: of a Kustomization that is suspended, or below one, and objects that
 * Flux is told to leave alone. What stands there is let stand by nobody: it was never seen to do anything.
 */
export function dormantIn(fleet: Fleet): (where: Where) => boolean {
  const held = new HeldNodes(fleet)
  const byKey = new Map(fleet.nodes.map(node => [node.key, node]))
  const objects = new Map<string, ReadonlySet<string>>()
  const leftAlone = (node: FleetNode): ReadonlySet<string> => {
    const before = objects.get(node.key)
    if (before) return before
    const found = new Set(node.objects.flatMap(object => (isLeftAlone(object) ? [nameOf(idOf(object))] : [])))
    objects.set(node.key, found)
    return found
  }
  return ({ node: key, object }) => {
    const node = byKey.get(key)
    return node !== undefined && (held.isDormant(key) || leftAlone(node).has(nameOf(object)))
  }
}

const nameOf = ({ apiVersion, kind, namespace, name }: Where['object']) =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name])

const isLeftAlone = (object: KubeObject) => isMarked(object) || isSuspended(object)

/** Whether an object of Flux says that its controller does nothing for it: by a field, or by an annotation of its group. */
function isSuspended(object: KubeObject): boolean {
  const row = fluxKind(kindOf(object))
  if (!row) return false
  if (isTrue(at(object.root, ['spec', 'suspend']))) return true
  return stringAt(object.root, ['metadata', 'annotations', `${row.group}/reconcile`])?.toLowerCase() === 'disabled'
}
