import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { stringAt } from '../../../kube/node.ts'
import { isKept } from './deleted-objects.ts'

/** Whether what a Kustomization applied goes when it goes (kustomize-controller, finalize). */
export function deletesAtEnd({ kustomization, prune, suspend }: FleetNode): boolean {
  if (suspend) return false
  const policy = stringAt(kustomization.root, ['spec', 'deletionPolicy']) ?? 'MirrorPrune'
  return policy === 'MirrorPrune' ? prune : policy !== 'Orphan'
}

/** The Kustomization that removes a node: the next one above that is still there, where all between prune. */
export function pruner(node: FleetNode, before: FleetIndex, index: FleetIndex): FleetNode | undefined {
  if (isKept(node.kustomization)) return undefined
  for (let key = node.parent, steps = 0; key !== undefined && steps < 64; steps++) {
    const now = index.node(key)
    if (now) return now.prune && !now.suspend && !now.error && now.digest !== '' ? now : undefined
    const was = before.node(key)
    if (!was || !deletesAtEnd(was) || isKept(was.kustomization)) return undefined
    key = was.parent
  }
  return undefined
}
