import type { MapNode } from '../kube/node.ts'

export function roundTrip(root: MapNode): MapNode {
  return root
}
