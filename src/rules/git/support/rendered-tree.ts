import type { EvaluatedRepository } from '../../../facts/evaluated-repository.ts'
import type { FleetNode } from '../../../fleet/model/fleet.ts'
import { artifactPath } from '../../../flux/artifact-path.ts'
import type { Tree, TreeEntry } from '../../../git/tree.ts'
import { namedPaths } from '../../kustomize/support/named-paths.ts'
import { type DirectoryFacts, directoryFacts } from './directory-facts.ts'

/** A directory of a repository, and who would render what stands there. */
export interface RenderedDirectory {
  readonly path: string
  readonly facts: DirectoryFacts
  /** Undefined: nobody, it only stands beside or above what is rendered. */
  readonly reader: FleetNode | undefined
  /** Who would render an entry, where that is somebody else. */
  readerOf(entry: TreeEntry): FleetNode | undefined
}

const walked = new WeakMap<EvaluatedRepository, readonly RenderedDirectory[]>()

/**
 * The directories of a repository with something in them that rules look for, and who renders them: bases and components
 * beside a node's own directory included. Of several nodes the one with the longest path counts, so that what is found is
 * said to whom it concerns.
 */
export function renderedDirectories(repository: EvaluatedRepository): readonly RenderedDirectory[] {
  const known = walked.get(repository)
  if (known) return known
  const readers = readersOf(repository)
  const found = readers.size > 0 ? [...walk(repository.tree, readers)] : []
  walked.set(repository, found)
  return found
}

function* walk(tree: Tree, readers: ReadonlyMap<string, FleetNode>): Generator<RenderedDirectory> {
  const queue: { path: string; reader: FleetNode | undefined }[] = [{ path: '', reader: readers.get('') }]
  for (let here = queue.pop(); here; here = queue.pop()) {
    const { path, reader } = here
    const facts = directoryFacts(tree.list(path))
    const readerOf = (entry: TreeEntry) => readers.get(entry.path) ?? reader
    if (isNotable(facts)) yield { path, facts, reader, readerOf }
    for (const entry of facts.directories) queue.push({ path: entry.path, reader: readerOf(entry) })
  }
}

const isNotable = ({ links, submodules, odd, collisions, attributes, ignore }: DirectoryFacts) =>
  links.length + submodules.length + odd.length + collisions.length > 0 || attributes || ignore

/** Every file that somebody renders. */
export function* renderedFiles(repository: EvaluatedRepository): Generator<{ entry: TreeEntry; reader: FleetNode }> {
  const { tree } = repository
  const readers = readersOf(repository)
  const queue: { path: string; reader: FleetNode | undefined }[] = [{ path: '', reader: readers.get('') }]
  for (let here = queue.pop(); here; here = queue.pop()) {
    for (const entry of tree.list(here.path)) {
      const reader = readers.get(entry.path) ?? here.reader
      if (entry.type === 'directory') queue.push({ path: entry.path, reader })
      else if (reader && entry.type === 'file') yield { entry, reader }
    }
  }
}

/** Where nodes begin to read, and the directories of what they read elsewhere. */
function readersOf(repository: EvaluatedRepository): Map<string, FleetNode> {
  const readers = new Map<string, FleetNode>()
  const add = (path: string, node: FleetNode) => {
    if (!readers.has(path)) readers.set(path, node)
  }
  for (const node of repository.nodes) add(artifactPath(node.path), node)
  // what an earlier node reads has its reader already, and all behind it too
  const seen = new Set<string>()
  for (const node of repository.nodes) {
    for (const file of node.error ? namedBy(repository, node, seen) : filesOf(repository, node)) {
      const directory = file.slice(0, Math.max(0, file.lastIndexOf('/')))
      // a file at the root says nothing about all that is below it
      if (directory !== '') add(directory, node)
    }
  }
  return readers
}

const files = new WeakMap<FleetNode, ReadonlySet<string>>()

/** The files that the objects of a node were written in. */
function filesOf({ url }: EvaluatedRepository, node: FleetNode): ReadonlySet<string> {
  const known = files.get(node)
  if (known) return known
  const found = new Set<string>()
  for (const { root, trail } of node.objects) {
    if (root.origin.repository === url) found.add(root.origin.file)
    for (const { file } of trail) found.add(file)
  }
  files.set(node, found)
  return found
}

/** Of a node that could not be rendered: what its overlays name. */
function* namedBy({ tree, url }: EvaluatedRepository, node: FleetNode, seen: Set<string>): Generator<string> {
  const first = [{ path: artifactPath(node.path), origin: node.kustomization.root.origin }]
  for (const { path } of namedPaths(tree, url, first, () => true, seen)) {
    const type = tree.entry(path)?.type
    if (type === 'directory') yield `${path}/`
    else if (type !== undefined) yield path
  }
}
