import type { FleetNode } from '../../fleet/fleet.ts'
import { artifactPath } from '../../flux/artifact-path.ts'

/** The node that renders a file of its repository: of several the one with the longest path, else the first one. */
export function readerOf(nodes: readonly FleetNode[], file: string): FleetNode | undefined {
  let best: FleetNode | undefined
  let length = -1
  for (const node of nodes) {
    const path = artifactPath(node.path)
    if (isBelow(node, file) && path.length > length) {
      best = node
      length = path.length
    }
  }
  return best ?? nodes[0]
}

/** Whether a file lies in what a node renders. */
export function isBelow(node: FleetNode, file: string): boolean {
  const path = artifactPath(node.path)
  return path === '' || file.startsWith(`${path}/`)
}
