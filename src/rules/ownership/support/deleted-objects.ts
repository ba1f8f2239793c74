import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { keysOf } from '../../../facts/object-table.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import type { KubeObject } from '../../../kube/object.ts'
import { fluxMarks } from './flux-mark.ts'

const KEPT: ReadonlyMap<string, readonly string[]> = new Map([
  ['kustomize.toolkit.fluxcd.io/prune', ['disabled']],
  ['kustomize.toolkit.fluxcd.io/reconcile', ['disabled']],
])

/** What a node rendered before and nobody on its cluster renders now; what asks not to be pruned aside. */
export function deletedObjects(node: FleetNode, old: readonly KubeObject[], index: FleetIndex): KubeObject[] {
  if (old === node.objects) return []
  const now = new Set(node.objects.map(object => keysOf(object)[2]))
  return old.filter(object => {
    const key = keysOf(object)[2]
    if (now.has(key) || isKept(object)) return false
    const [kind = '', namespace = '', name = ''] = key.split('\0')
    return index.versionsOf(node.cluster, kind, namespace, name).length === 0
  })
}

/** Whether Flux leaves an object alone that is not in git any more. */
export function isKept(object: KubeObject): boolean {
  return fluxMarks(object, KEPT).length > 0
}
