import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import type { Node } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import { KUSTOMIZATION_FILES } from '../../kustomize/read/find-kustomization.ts'
import { joinPath } from '../../kustomize/read/resolve-path.ts'

/** A path that an overlay names, whether or not something is there. */
export interface NamedPath {
  readonly path: string
  readonly origin: Origin
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
  const bytes = tree.read(path)
  if (bytes.length > MAX_BYTES) return []
  try {
    const documents = parseDocuments({ repository, path }, bytes)
    return documents
      .flatMap(root => [...textsIn(root)])
      .flatMap(({ text, origin }) =>
        [text, text.slice(text.indexOf('=') + 1)].flatMap(one => {
          const parts = one.startsWith('/') ? undefined : joinPath(directory, one.trim())
          return parts ? [{ path: parts.join('/'), origin }] : []
        }),
      )
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return []
  }
}

function* textsIn(node: Node): Generator<{ text: string; origin: Origin }> {
  if (node.type === 'list') for (const item of node.items) yield* textsIn(item)
  else if (node.type === 'map') for (const field of node.fields.values()) yield* textsIn(field.value)
  else if (typeof node.value === 'string' && node.value.length <= MAX_TEXT)
    yield { text: node.value, origin: node.origin }
}
