import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { artifactPath } from '../../../flux/artifact-path.ts'

const known = new WeakMap<readonly FleetNode[], ReadonlyMap<string, FleetNode>>()

/** The node that renders a file of its repository: of several the one with the longest path, else the first one. */
export function readerOf(nodes: readonly FleetNode[], file: string): FleetNode | undefined {
  const readers = known.get(nodes) ?? byPath(nodes)
  known.set(nodes, readers)
  for (let path: string | undefined = parentOf(file); path !== undefined; path = parentOf(path)) {
    const reader = readers.get(path)
    if (reader) return reader
  }
  return nodes[0]
}

/** The first node at each path. */
function byPath(nodes: readonly FleetNode[]): ReadonlyMap<string, FleetNode> {
  const readers = new Map<string, FleetNode>()
  for (const node of nodes) {
    const path = artifactPath(node.path)
    if (!readers.has(path)) readers.set(path, node)
  }
  return readers
}

const parentOf = (path: string): string | undefined =>
  path === '' ? undefined : path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** Whether a file lies in what a node renders. */
export function isBelow(node: FleetNode, file: string): boolean {
  const path = artifactPath(node.path)
  return path === '' || file.startsWith(`${path}/`)
}
