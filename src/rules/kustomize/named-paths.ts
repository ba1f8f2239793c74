import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { type Node, stringAt } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import { KUSTOMIZATION_FILES } from '../../kustomize/read/find-kustomization.ts'
import { joinPath } from '../../kustomize/read/resolve-path.ts'

/** A path that an overlay names, whether or not something is there. */
export interface NamedPath {
  readonly path: string
  readonly origin: Origin
  /** The directory of the overlay that names it: a generator or transformer in that file reads relative to it. */
  readonly from?: string
}

/** Kustomization files that are looked at for one node, their size and the length of a path. */
const MAX_FILES = 2_000
const MAX_BYTES = 1024 * 1024
const MAX_TEXT = 1024

/**
 * What the overlays below and beside `first` name: every text of a kustomization file counts, since one that is no path
 * leads nowhere. `follows` says whether to read on behind a path. A file that is no YAML names nothing: its node fails.
 */
export function* namedPaths(
  tree: Tree,
  repository: string,
  first: readonly NamedPath[],
  follows: (path: string) => boolean,
): Generator<NamedPath> {
  const seen = new Set<string>()
  const queue = [...first]
  for (let files = 0; queue.length > 0 && files < MAX_FILES; ) {
    const named = queue.pop()!
    if (seen.has(named.path)) continue
    seen.add(named.path)
    yield named
    if (tree.entry(named.path)?.type === 'file' && named.from !== undefined && follows(named.path)) {
      files++
      queue.push(...namesInConfiguration(tree, repository, named.from, named.path))
      continue
    }
    if (tree.entry(named.path)?.type !== 'directory' || !follows(named.path)) continue
    const own = KUSTOMIZATION_FILES.map(name => (named.path === '' ? name : `${named.path}/${name}`))
    const present = own.filter(path => tree.entry(path)?.type === 'file')
    files += present.length
    for (const path of present) queue.push(...namesIn(tree, repository, named.path, path))
    if (present.length > 0) continue
    for (const entry of tree.list(named.path)) {
      if (entry.type === 'directory') queue.push({ path: entry.path, origin: named.origin })
    }
  }
}

function namesIn(tree: Tree, repository: string, directory: string, path: string): NamedPath[] {
  const texts = documentsOf(tree, repository, path).flatMap(root => [...textsIn(root, repository)])
  return texts.flatMap(({ text, origin }) => pathsOf(text, directory, origin))
}

/** What the generators and transformers of a file name: builtins are told by their API version. */
function namesInConfiguration(tree: Tree, repository: string, directory: string, path: string): NamedPath[] {
  if (!/\.(?:ya?ml|json)$/i.test(path)) return []
  return documentsOf(tree, repository, path)
    .filter(root => stringAt(root, ['apiVersion']) === 'builtin')
    .flatMap(root => [...textsIn(root, repository)])
    .flatMap(({ text, origin }) => pathsOf(text, directory, origin))
}

/** The paths that a text may mean; `key=path` is how generators write them. */
function pathsOf(text: string, directory: string, origin: Origin): NamedPath[] {
  return [text, text.slice(text.indexOf('=') + 1)].flatMap(one => {
    const parts = one.startsWith('/') ? undefined : joinPath(directory, one.trim())
    return parts ? [{ path: parts.join('/'), origin, from: directory }] : []
  })
}

/** The documents of a file; none where it cannot be read, because then its node fails. */
function documentsOf(tree: Tree, repository: string, path: string): readonly Node[] {
  const bytes = tree.read(path)
  return bytes.length > MAX_BYTES ? [] : parsed(repository, path, bytes)
}

function parsed(repository: string, path: string, bytes: Uint8Array): readonly Node[] {
  try {
    return parseDocuments({ repository, path }, bytes)
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return []
  }
}

/** Every text, and those in a text that is itself a generator or transformer; these stand where the outer one does. */
function* textsIn(node: Node, repository: string, outer?: Origin): Generator<{ text: string; origin: Origin }> {
  if (node.type === 'list') for (const item of node.items) yield* textsIn(item, repository, outer)
  else if (node.type === 'map') for (const field of node.fields.values()) yield* textsIn(field.value, repository, outer)
  else if (typeof node.value === 'string') {
    const origin = outer ?? node.origin
    if (node.value.length <= MAX_TEXT) yield { text: node.value, origin }
    if (outer || !/\bbuiltin\b/.test(node.value)) return
    for (const root of parsed(repository, node.origin.file, Buffer.from(node.value))) {
      yield* textsIn(root, repository, origin)
    }
  }
}
