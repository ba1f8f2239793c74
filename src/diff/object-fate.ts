import type { FleetNode } from '../fleet/model/fleet.ts'
import { KUSTOMIZE_GROUP } from '../flux/kinds.ts'
import { at, isTrue, stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import type { Fate } from './changes.ts'

/**
 * What Flux does with an object that a Kustomization renders no more. Source: fluxcd/kustomize-controller, prune of the
 * reconciler and its exclusions (labels and annotations alike, values without regard to case).
 */
export function fateIn(node: Pick<FleetNode, 'prune' | 'suspend'>, object: KubeObject): Fate {
  if (isKept(object)) return 'kept'
  if (node.suspend) return 'suspended'
  return node.prune ? 'deleted' : 'orphaned'
}

/**
 * What Flux does with an object when its Kustomization is gone: `own` is what becomes of that. Its finalizer deletes by
 * `spec.deletionPolicy`, which follows `prune` where it says nothing else, and nothing while it is suspended.
 */
export function fateWithout(node: FleetNode, object: KubeObject, own: Fate): Fate {
  if (isKept(object)) return 'kept'
  if (own !== 'deleted') return own
  const policy = stringAt(node.kustomization.root, ['spec', 'deletionPolicy']) ?? 'MirrorPrune'
  if (node.suspend || policy === 'Orphan') return 'orphaned'
  return policy !== 'MirrorPrune' || node.prune ? 'deleted' : 'orphaned'
}

/** Whether Flux deletes an object of the cluster and makes it anew where a change of it is refused. */
export function isForced(node: FleetNode, object: KubeObject): boolean {
  const force = at(node.kustomization.root, ['spec', 'force'])
  return isTrue(force) || says(object, 'force', 'enabled')
}

const isKept = (object: KubeObject): boolean =>
  says(object, 'prune', 'disabled') || says(object, 'reconcile', 'disabled') || says(object, 'ssa', 'ignore')

function says(object: KubeObject, name: string, value: string): boolean {
  return ['labels', 'annotations'].some(
    part => stringAt(object.root, ['metadata', part, `${KUSTOMIZE_GROUP}/${name}`])?.toLowerCase() === value,
  )
}
