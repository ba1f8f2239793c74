import { BailiwickError } from '../../base/errors.ts'
import { message } from '../../base/message.ts'
import { oncePer, oncePerName } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import type { EvaluatedRepository } from '../../fleet/facts/repositories.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { artifactPath } from '../../flux/artifact.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { readableDocuments } from '../../kube/yaml/parse-documents.ts'
import { joinPath, KUSTOMIZATION_FILES } from '../../kustomize/paths.ts'
import { Subject, type Violation, type Wording } from '../model/rule.ts'

/** A directory of a repository, and the node that would render its files. */
export interface RenderedDirectory {
  readonly path: string
  readonly facts: DirectoryFacts
  /** Undefined: it is only beside or above what is rendered. */
  readonly reader: FleetNode | undefined
  /** The node that would render an entry, where it is not `reader`. */
  readerOf(entry: TreeEntry): FleetNode | undefined
}

/**
 * The directories of a repository that contain something rules look for, and the nodes that render them: bases and
 * components beside a node's own directory included. Of several nodes the one with the longest path counts, so that its
 * owner gets the finding.
 */
export const renderedDirectories = oncePer((repository: EvaluatedRepository): readonly RenderedDirectory[] => {
  const readers = treeReadersOf(repository)
  return readers.size > 0 ? [...walk(repository.tree, readers)] : []
})

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

/** Every file that a node renders. */
export function* renderedFiles(repository: EvaluatedRepository): Generator<{ entry: TreeEntry; reader: FleetNode }> {
  const { tree } = repository
  const readers = treeReadersOf(repository)
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
function treeReadersOf(repository: EvaluatedRepository): Map<string, FleetNode> {
  const readers = new Map<string, FleetNode>()
  const add = (path: string, node: FleetNode) => {
    if (!readers.has(path)) readers.set(path, node)
  }
  for (const node of repository.nodes) add(artifactPath(node.path), node)
  // what an earlier node reads has its reader already, and so has all that it leads to
  const seen = new Set<string>()
  for (const node of repository.nodes) {
    for (const file of node.error ? namedBy(repository, node, seen) : filesOf(node)) {
      const directory = file.slice(0, Math.max(0, file.lastIndexOf('/')))
      // a file at the root does not imply that all below it is read
      if (directory !== '') add(directory, node)
    }
  }
  return readers
}

/** The files in which the objects of a node are written. */
const filesOf = oncePer(({ objects, source }: FleetNode): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const { root, trail } of objects) {
    if (root.origin.repository === source.url) found.add(root.origin.file)
    for (const { file } of trail) found.add(file)
  }
  return found
})

/** For a node that could not be rendered: the paths that its overlays name. */
function* namedBy({ tree, url }: EvaluatedRepository, node: FleetNode, seen: Set<string>): Generator<string> {
  const first = [{ path: artifactPath(node.path), origin: node.kustomization.root.origin }]
  for (const { path } of namedPaths(tree, url, first, () => true, seen)) {
    const type = tree.entry(path)?.type
    if (type === 'directory') yield `${path}/`
    else if (type !== undefined) yield path
  }
}

/** What rules look for in one directory, found in one look at its entries. */
interface DirectoryFacts {
  readonly directories: readonly TreeEntry[]
  readonly links: readonly TreeEntry[]
  readonly submodules: readonly TreeEntry[]
  /** Names that mean another file somewhere, and why; `hides`: they mislead any reader, wherever they are. */
  readonly odd: readonly { readonly entry: TreeEntry; readonly problem: string; readonly hides: boolean }[]
  /** Entries that are one file where names are compared without regard to case or accents. */
  readonly collisions: readonly (readonly [TreeEntry, TreeEntry])[]
  readonly attributes: TreeEntry | undefined
  readonly ignore: TreeEntry | undefined
}

/** The facts of a listing. Listings never change, so each is computed once. */
const directoryFacts = oncePer((entries: readonly TreeEntry[]): DirectoryFacts => {
  const file = (name: string) => entries.find(entry => entry.name === name && entry.type === 'file')
  return {
    directories: entries.filter(entry => entry.type === 'directory'),
    links: entries.filter(entry => entry.type === 'symlink'),
    submodules: entries.filter(entry => entry.type === 'submodule'),
    odd: entries.flatMap(entry => {
      const problem = problemOf(entry.name)
      return problem === undefined ? [] : [{ entry, problem, hides: disguiseIn(entry.name) !== undefined }]
    }),
    collisions: collisionsIn(entries),
    attributes: file('.gitattributes'),
    ignore: file('.sourceignore'),
  }
})

function collisionsIn(entries: readonly TreeEntry[]): [TreeEntry, TreeEntry][] {
  const seen = new Map<string, TreeEntry>()
  return entries.flatMap(entry => {
    const name = entry.name.normalize('NFC').toLowerCase().normalize('NFC')
    const other = seen.get(name)
    if (!other) seen.set(name, entry)
    return other ? [[other, entry] satisfies [TreeEntry, TreeEntry]] : []
  })
}

/** Characters that macOS ignores in names (CVE-2014-9390). */
const OVERLOOKED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
const OVERLOOKED_ONE = new RegExp(OVERLOOKED.source)
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x1f\x7f-\x9f\u2028\u2029]/
/** `GIT~1`, `KUSTOM~1.YAM`: other names that Windows gives to files with long ones. */
const SHORT_NAME = /^[^.~]{1,6}~\d(?:\.[^.]{0,3})?$/

/** Why a file name prints as something else, wherever the file is; undefined if it does not. */
function disguiseIn(name: string) {
  // the name that macOS gives to the icon of a folder
  if (name === 'Icon\r') return undefined
  if (CONTROL.test(name)) return 'contains a control character'
  if (OVERLOOKED_ONE.test(name)) return 'contains an invisible character'
  return undefined
}

/** Why a file name means another one to some programs or file systems; undefined if it does not. */
export function problemOf(name: string) {
  const plain = name.replace(OVERLOOKED, '').toLowerCase()
  if (/^(?:\.git|git~\d)(?:[ .]*$|:)/.test(plain)) return "is git's own directory on some file systems"
  const disguise = disguiseIn(name)
  if (disguise) return disguise
  if (name.startsWith('-')) return 'begins with a dash, like an option'
  if (name.startsWith('::')) return 'begins like a GitHub Actions command'
  if (/[`\\]/.test(name) || name.includes('$(')) return 'contains a character that shells or Windows interpret'
  if (/[. ]$/.test(name)) return 'ends with a dot or space, which Windows removes'
  if (name.startsWith(' ')) return 'begins with a space'
  if (SHORT_NAME.test(name)) return 'is a Windows short name of another file'
  return undefined
}

/** A finding about a file, for the node that would render it; without a line about the file itself: its name, its kind. */
export function violationIn(
  repository: EvaluatedRepository,
  node: FleetNode,
  file: string,
  value: string,
  { line = 0, ...wording }: Wording & { readonly line?: number },
): Violation {
  const origin = { repository: repository.url, file, line, column: Math.min(line, 1) }
  return Subject.ofNode(node).violation(['spec', 'path'], value, { origin, ...wording })
}

/** A path that an overlay names, whether or not it exists. */
export interface NamedPath {
  readonly path: string
  readonly origin: Origin
  /** The directory of the overlay that names it: a generator or transformer in that file reads relative to it. */
  readonly from?: string
}

/** Paths followed for one node, or for all that share `seen`. */
const MAX_PATHS = 200_000

/**
 * The paths that overlays below and beside `first` name: every text of a kustomization file counts, since one that is
 * not a path leads nowhere. `follows`: whether to read on behind a path; paths in `seen` are skipped. A file that is
 * not YAML names nothing: its node fails. Throws `render-limits` for too many paths.
 */
export function* namedPaths(
  tree: Tree,
  repository: string,
  first: readonly NamedPath[],
  follows: (path: string) => boolean,
  seen = new Set<string>(),
): Generator<NamedPath> {
  const queue = [...first]
  for (let named = queue.pop(); named; named = queue.pop()) {
    if (seen.has(named.path)) continue
    if (seen.size >= MAX_PATHS) throw tooMany(named.origin)
    seen.add(named.path)
    yield named
    if (tree.entry(named.path)?.type === 'file' && named.from !== undefined && follows(named.path)) {
      for (const one of namesInConfiguration(tree, repository, named.from, named.path)) queue.push(one)
      continue
    }
    if (tree.entry(named.path)?.type !== 'directory' || !follows(named.path)) continue
    const own = KUSTOMIZATION_FILES.map(name => (named.path === '' ? name : `${named.path}/${name}`))
    const present = own.filter(path => tree.entry(path)?.type === 'file')
    for (const path of present) for (const one of namesIn(tree, repository, named.path, path)) queue.push(one)
    if (present.length > 0) continue
    for (const entry of tree.list(named.path)) {
      if (entry.type === 'directory') queue.push({ path: entry.path, origin: named.origin })
    }
  }
}

function tooMany(origin: Origin): BailiwickError {
  const fix = message`Split the overlays that are not built together.`
  return new BailiwickError('render-limits', `overlays that name more than ${MAX_PATHS} paths`, { origin, fix })
}

/** Trees never change, so a file of one is read once, however many nodes build it. */
const remembered = oncePerName<Tree, readonly NamedPath[]>()

function namesIn(tree: Tree, repository: string, directory: string, path: string): readonly NamedPath[] {
  return remembered(tree, path, () => {
    const texts = parsed(repository, path, tree.read(path)).flatMap(root => [...textsIn(root, repository)])
    return texts.flatMap(({ text, origin }) => pathsOf(text, directory, origin))
  })
}

/** The paths in generators and transformers of a file; an API version marks the builtin ones. */
function namesInConfiguration(tree: Tree, repository: string, directory: string, path: string): readonly NamedPath[] {
  if (!/\.(?:ya?ml|json)$/i.test(path)) return []
  return remembered(tree, `${directory}\0${path}`, () =>
    parsed(repository, path, tree.read(path))
      .filter(root => stringAt(root, ['apiVersion']) === 'builtin')
      .flatMap(root => [...textsIn(root, repository)])
      .flatMap(({ text, origin }) => pathsOf(text, directory, origin)),
  )
}

/** The paths that a text may mean; `key=path` is how generators write them. */
function pathsOf(text: string, directory: string, origin: Origin): NamedPath[] {
  return [text, text.slice(text.indexOf('=') + 1)].flatMap(one => {
    const parts = one.startsWith('/') ? undefined : joinPath(directory, one.trim())
    return parts ? [{ path: parts.join('/'), origin, from: directory }] : []
  })
}

/** The documents of a file; none where it cannot be read: its node then fails. */
function parsed(repository: string, path: string, bytes: Uint8Array): readonly Node[] {
  return readableDocuments({ repository, path }, bytes) ?? []
}

/** Every text, and those in a text that is itself a generator or transformer; these have the outer one's origin. */
function* textsIn(node: Node, repository: string, outer?: Origin): Generator<{ text: string; origin: Origin }> {
  if (node.type === 'list') for (const item of node.items) yield* textsIn(item, repository, outer)
  else if (node.type === 'map') for (const field of node.fields.values()) yield* textsIn(field.value, repository, outer)
  else if (typeof node.value === 'string') {
    const origin = outer ?? node.origin
    yield { text: node.value, origin }
    if (outer || !/\bbuiltin\b/.test(node.value)) return
    for (const root of parsed(repository, node.origin.file, Buffer.from(node.value))) {
      yield* textsIn(root, repository, origin)
    }
  }
}

/** The finding of a file, at each node that renders it. */
export const atReaders = (
  nodes: readonly FleetNode[],
  file: string,
  value: string,
  wording: Wording,
): readonly Violation[] =>
  readersOf(nodes, file).map(node => Subject.ofNode(node).violation(['spec', 'path'], value, wording))

interface Readers {
  readonly byFile: ReadonlyMap<string, ReadonlySet<FleetNode>>
  readonly byPath: ReadonlyMap<string, readonly FleetNode[]>
  readonly ofClusters: readonly FleetNode[]
}

/**
 * The nodes that render a file of their repository. For a file that no object comes from: those with the longest path
 * above it, else the first one of each cluster.
 */
export function readersOf(nodes: readonly FleetNode[], file: string): readonly FleetNode[] {
  const { byFile, byPath, ofClusters } = readersIn(nodes)
  const renderers = byFile.get(file)
  if (renderers) return [...renderers]
  for (let path: string | undefined = parentOf(file); path !== undefined; path = parentOf(path)) {
    const readers = byPath.get(path)
    if (readers) return readers
  }
  return ofClusters
}

const readersIn = oncePer((nodes: readonly FleetNode[]): Readers => {
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
  return { byFile, byPath, ofClusters }
})

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
