import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { artifactPath } from '../../../flux/artifact-path.ts'
import { at } from '../../../kube/node.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { Violation } from '../../model/rule.ts'

/** What is found in a file, at each node that renders it. */
export const atReaders = (
  nodes: readonly FleetNode[],
  file: string,
  found: Omit<Violation, 'node' | 'object' | 'path'>,
): readonly Violation[] =>
  readersOf(nodes, file).map(node => ({ ...found, node, object: node.kustomization, path: ['spec', 'path'] }))

interface Readers {
  readonly byFile: ReadonlyMap<string, ReadonlySet<FleetNode>>
  readonly byPath: ReadonlyMap<string, readonly FleetNode[]>
  readonly ofClusters: readonly FleetNode[]
}

const known = new WeakMap<readonly FleetNode[], Readers>()

/**
 * The nodes that render a file of their repository. Of a file that no object comes from: those with the longest path above
 * it, else the first one of each cluster.
 */
export function readersOf(nodes: readonly FleetNode[], file: string): readonly FleetNode[] {
  const { byFile, byPath, ofClusters } = known.get(nodes) ?? readersIn(nodes)
  const renderers = byFile.get(file)
  if (renderers) return [...renderers]
  for (let path: string | undefined = parentOf(file); path !== undefined; path = parentOf(path)) {
    const readers = byPath.get(path)
    if (readers) return readers
  }
  return ofClusters
}

function readersIn(nodes: readonly FleetNode[]): Readers {
  const byFile = new Map<string, Set<FleetNode>>()
  for (const node of nodes) {
    for (const object of node.objects) {
      for (const { repository, file } of originsOf(object)) {
        if (repository !== node.source.url) continue
        const readers = byFile.get(file)
        if (readers) readers.add(node)
        else byFile.set(file, new Set([node]))
      }
    }
  }
  const byPath = Map.groupBy(nodes, node => artifactPath(node.path))
  const ofClusters = [...new Map(nodes.toReversed().map(node => [node.cluster, node])).values()].reverse()
  const readers = { byFile, byPath, ofClusters }
  known.set(nodes, readers)
  return readers
}

/** Where an object was written; a generated one, where its values were. */
function originsOf({ root }: KubeObject) {
  const data = at(root, ['data'])
  return [root.origin, ...(data?.type === 'map' ? [...data.fields.values()].map(({ value }) => value.origin) : [])]
}

const parentOf = (path: string): string | undefined =>
  path === '' ? undefined : path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** Whether a file lies in what a node renders. */
export function isBelow(node: FleetNode, file: string): boolean {
  const path = artifactPath(node.path)
  return path === '' || file.startsWith(`${path}/`)
}
