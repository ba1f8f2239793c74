import type { FleetNode } from '../../fleet/fleet.ts'
import { artifactPath } from '../../flux/artifact-path.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import type { JudgedRepository } from '../judged-repository.ts'

/** An entry of a repository, and who would render what stands there. */
export interface RenderedEntry {
  readonly entry: TreeEntry
  /** Undefined: nobody, it only stands beside or above what is rendered. */
  readonly reader?: FleetNode
}

/** A directory of a repository whose content, or part of it, is rendered. */
export interface RenderedDirectory {
  readonly path: string
  readonly entries: readonly RenderedEntry[]
}

/**
 * The directories of a repository that nodes render, and those that lead there; nothing else is looked at. Of several
 * nodes the one with the longest path counts, so that what is found is said to whom it concerns.
 */
export function* renderedDirectories({ tree, nodes }: JudgedRepository): Generator<RenderedDirectory> {
  const readers = new Map<string, FleetNode>()
  const leading = new Set<string>()
  for (const node of nodes) {
    for (const path of pathsOf(node)) {
      if (readers.has(path)) continue
      readers.set(path, node)
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
        leading.add(path.slice(0, end))
    }
  }
  if (readers.size > 0) yield* walk(tree, '', readers.get(''), readers, leading)
}

/** Where a node begins to read. */
const pathsOf = (node: FleetNode): string[] => [artifactPath(node.path)]

function* walk(
  tree: Tree,
  path: string,
  reader: FleetNode | undefined,
  readers: ReadonlyMap<string, FleetNode>,
  leading: ReadonlySet<string>,
): Generator<RenderedDirectory> {
  const entries = tree.list(path).map((entry): RenderedEntry => {
    const own = readers.get(entry.path) ?? reader
    return { entry, ...(own ? { reader: own } : {}) }
  })
  yield { path, entries }
  for (const { entry, reader: own } of entries) {
    if (entry.type === 'directory' && (own || leading.has(entry.path))) {
      yield* walk(tree, entry.path, own, readers, leading)
    }
  }
}
