import type { FleetNode } from '../../fleet/fleet.ts'
import { artifactPath } from '../../flux/artifact-path.ts'

/** The node that renders a file of its repository: of several the one with the longest path, else the first one. */
export function readerOf(nodes: readonly FleetNode[], file: string): FleetNode | undefined {
  let best: FleetNode | undefined
  let length = -1
  for (const node of nodes) {
    const path = artifactPath(node.path)
    if ((path === '' || file.startsWith(`${path}/`)) && path.length > length) {
      best = node
      length = path.length
    }
  }
  return best ?? nodes[0]
}
