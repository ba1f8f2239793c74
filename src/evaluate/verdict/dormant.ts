import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { KUSTOMIZE_GROUP } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Finding } from '../../rules/model/finding.ts'

type Place = Pick<Finding, 'node' | 'object'>

/**
 * Tells what of a fleet git holds and Flux does not apply: of a Kustomization that is suspended, or below one, and objects that
 * Flux is told to leave alone. What stands there is let stand by nobody: it was never seen to do anything.
 */
export function dormantIn({ nodes }: Fleet): (place: Place) => boolean {
  const byKey = new Map(nodes.map(node => [node.key, node]))
  const known = new Map<string, boolean>()
  const isAsleep = (node: FleetNode): boolean => {
    const before = known.get(node.key)
    if (before !== undefined) return before
    const parent = node.parent === undefined ? undefined : byKey.get(node.parent)
    // set first: whatever a fleet holds, this ends
    known.set(node.key, false)
    const asleep = node.suspend || isLeftAlone(node.kustomization) || (parent !== undefined && isAsleep(parent))
    known.set(node.key, asleep)
    return asleep
  }
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
    return node !== undefined && (isAsleep(node) || leftAlone(node).has(nameOf(object)))
  }
}

const nameOf = ({ apiVersion, kind, namespace, name }: Place['object']) =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name])

/** Whether Flux leaves an object in git alone (fluxcd/pkg ssa: labels and annotations, in any case), or what it stands for. */
function isLeftAlone(object: KubeObject): boolean {
  if (isSuspended(object)) return true
  return ['labels', 'annotations'].some(part => {
    const says = (name: string) =>
      stringAt(object.root, ['metadata', part, `${KUSTOMIZE_GROUP}/${name}`])?.toLowerCase()
    return says('reconcile') === 'disabled' || says('ssa') === 'ignore'
  })
}

function isSuspended(object: KubeObject): boolean {
  const suspend = at(object.root, ['spec', 'suspend'])
  const isFlux = groupOf(idOf(object).apiVersion).endsWith('.toolkit.fluxcd.io')
  return isFlux && suspend?.type === 'scalar' && suspend.value === true
}
