import { BailiwickError } from '../../errors.ts'
import { isKustomizationKind } from '../../flux/flux-object.ts'
import { KUSTOMIZE_GROUP } from '../../flux/kinds.ts'
import type { Tree, TreeEntry } from '../../git/tree.ts'
import { at, stringAt } from '../../kube/node.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'

/** A Flux Kustomization as it stands in a file, whether or not a cluster builds it. */
export interface Standing {
  readonly file: string
  readonly line: number
  readonly column: number
  /** As written: '' where an overlay gives it, or where the file cannot be read. */
  readonly namespace: string
  readonly name: string
  readonly path: string
  /** Why the file cannot be read. */
  readonly unreadable?: string
}

/** `<namespace>/<name>`, or the name where an overlay gives the namespace. */
export const displayName = ({ namespace, name }: Standing): string => (namespace === '' ? name : `${namespace}/${name}`)

/** The Flux Kustomizations of a repository; `left`: files beyond the limits, which were not searched. */
interface StandingKustomizations {
  readonly all: readonly Standing[]
  readonly left: number
}

const MAX_FILES = 50_000
const MAX_BYTES = 256 * 1024 * 1024

const searched = new WeakMap<Tree, StandingKustomizations>()

/** Finds every Flux Kustomization that stands in a YAML file of the tree, in the order of the files. */
export function standingKustomizations(tree: Tree): StandingKustomizations {
  const before = searched.get(tree)
  if (before) return before
  const all: Standing[] = []
  const room = { files: MAX_FILES, bytes: MAX_BYTES }
  let left = 0
  for (const entry of yamlFiles(tree)) {
    if (room.files <= 0 || room.bytes <= 0) left++
    else for (const one of inFile(tree, entry, room)) all.push({ ...one, file: entry.path })
  }
  const found = { all, left }
  searched.set(tree, found)
  return found
}

function* yamlFiles(tree: Tree): Generator<TreeEntry> {
  const queue = ['']
  for (let directory = queue.pop(); directory !== undefined; directory = queue.pop()) {
    const entries = tree.list(directory)
    for (const entry of entries) if (entry.type === 'file' && /\.ya?ml$/.test(entry.name)) yield entry
    for (const entry of entries.toReversed()) if (entry.type === 'directory') queue.push(entry.path)
  }
}

/** What one file says, and what reading it costs. */
interface Searched {
  readonly bytes: number
  readonly found: readonly Omit<Standing, 'file'>[]
}

/** By git id: most files are those of the commit before. */
const known = new Map<string, Searched>()
const MAX_KNOWN = 50_000
const NONE: Searched['found'] = []

function inFile(tree: Tree, { path, id }: TreeEntry, room: { files: number; bytes: number }): Searched['found'] {
  const { bytes, found } = known.get(id) ?? search(tree, path, id)
  room.files--
  room.bytes -= bytes
  return found
}

function search(tree: Tree, path: string, id: string): Searched {
  const bytes = Buffer.from(tree.read(path))
  const searched = { bytes: bytes.length, found: bytes.includes(KUSTOMIZE_GROUP) ? readFile(path, bytes) : NONE }
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(id, searched)
  return searched
}

function readFile(path: string, bytes: Buffer): Searched['found'] {
  try {
    return parseDocuments({ repository: '', path }, bytes).flatMap(root => {
      const text = (...field: string[]) => stringAt(root, field) ?? ''
      const group = text('apiVersion').split('/')[0] ?? ''
      if (!isKustomizationKind(group, text('kind')) || isPatch(root)) return []
      const { line, column } = root.origin
      const [namespace, name, below] = [text('metadata', 'namespace'), text('metadata', 'name'), text('spec', 'path')]
      return [{ line, column, namespace, name, path: below }]
    })
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    // a text about Flux that is no manifest mentions the group without an object of it
    if (!/^[ -]*kind: *["']?Kustomization\b/m.test(bytes.toString('latin1'))) return NONE
    return [{ line: error.origin?.line ?? 1, column: 1, namespace: '', name: '', path: '', unreadable: error.message }]
  }
}

/** The API server asks for both fields: what has neither is there to be merged into something else. */
const isPatch = (root: Parameters<typeof at>[0]) =>
  at(root, ['spec', 'interval']) === undefined && at(root, ['spec', 'sourceRef']) === undefined
