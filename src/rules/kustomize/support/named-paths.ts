import { BailiwickError } from '../../../errors.ts'
import type { Tree } from '../../../git/tree.ts'
import { type Node, stringAt } from '../../../kube/node.ts'
import { readableDocuments } from '../../../kube/yaml/readable-documents.ts'
import { KUSTOMIZATION_FILES } from '../../../kustomize/paths/find-kustomization.ts'
import { joinPath } from '../../../kustomize/paths/resolve-path.ts'
import { message } from '../../../message/message.ts'
import type { Origin } from '../../../origin.ts'

/** A path that an overlay names, whether or not something is there. */
export interface NamedPath {
  readonly path: string
  readonly origin: Origin
  /** The directory of the overlay that names it: a generator or transformer in that file reads relative to it. */
  readonly from?: string
}

/** Paths that are followed for one node, or for all that share `seen`. */
const MAX_PATHS = 200_000

/**
 * What the overlays below and beside `first` name: every text of a kustomization file counts, since one that is no path
 * leads nowhere. `follows` says whether to read on behind a path; what is in `seen` is not looked at again. A file that is
 * no YAML names nothing: its node fails. Throws `render-limits` for more paths than anybody names.
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

const known = new WeakMap<Tree, Map<string, readonly NamedPath[]>>()

/** Trees never change, so that a file of one is read once, however many nodes build it. */
function remembered(tree: Tree, key: string, read: () => readonly NamedPath[]): readonly NamedPath[] {
  const files = known.get(tree) ?? new Map<string, readonly NamedPath[]>()
  known.set(tree, files)
  const names = files.get(key) ?? read()
  files.set(key, names)
  return names
}

function namesIn(tree: Tree, repository: string, directory: string, path: string): readonly NamedPath[] {
  return remembered(tree, path, () => {
    const texts = parsed(repository, path, tree.read(path)).flatMap(root => [...textsIn(root, repository)])
    return texts.flatMap(({ text, origin }) => pathsOf(text, directory, origin))
  })
}

/** What the generators and transformers of a file name: builtins are told by their API version. */
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

/** The documents of a file; none where it cannot be read, because then its node fails. */
function parsed(repository: string, path: string, bytes: Uint8Array): readonly Node[] {
  return readableDocuments({ repository, path }, bytes) ?? []
}

/** Every text, and those in a text that is itself a generator or transformer; these stand where the outer one does. */
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
