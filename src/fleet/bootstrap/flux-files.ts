import { BailiwickError } from '../../errors.ts'
import { KUSTOMIZE_GROUP, OPERATOR_GROUP, SOURCE_GROUP } from '../../flux/kinds.ts'
import { readUnlessLarge, type Tree, type TreeEntry } from '../../git/tree.ts'
import type { KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'

/** A YAML file with objects of Flux or of its operator, as it is written. */
export interface FluxFile {
  readonly path: string
  readonly objects: readonly KubeObject[]
}

/** Files with objects of Flux that are looked through for roots of clusters. */
const MAX_FLUX_FILES = 20_000
/** Folders whose files are remembered, of all repositories. */
const MAX_FOLDERS = 50_000

const MARKS = [KUSTOMIZE_GROUP, SOURCE_GROUP, OPERATOR_GROUP].map(mark => Buffer.from(mark))
/** What values of the chart flux-instance say, which name no API. */
const VALUES = ['instance:', 'sync:', 'url:', 'path:'].map(mark => Buffer.from(mark))

/** By the id of a folder, which stands for its content, and by where it is: origins name the place. */
const remembered = new Map<string, readonly FluxFile[]>()

/**
 * The files of a repository with objects of Flux, in the order of their paths. A file that no YAML reader accepts is left
 * out: who builds it gets the error. Throws `graph-limits` for more files than a fleet has.
 */
export function fluxFiles(tree: Tree, repository: string): readonly FluxFile[] {
  return filesBelow(tree, repository, tree.entry('') ?? { name: '', path: '', type: 'directory', id: tree.id })
}

function filesBelow(tree: Tree, repository: string, { path, id }: TreeEntry): readonly FluxFile[] {
  const key = `${id} ${repository} ${path}`
  const known = remembered.get(key)
  if (known) return known
  const found: FluxFile[] = []
  for (const entry of tree.list(path)) {
    if (entry.type === 'directory') for (const file of filesBelow(tree, repository, entry)) found.push(file)
    if (entry.type === 'file' && isYaml(entry.name)) found.push(...read(tree, repository, entry.path))
    if (found.length > MAX_FLUX_FILES) throw tooMany(repository, path)
  }
  if (remembered.size >= MAX_FOLDERS) remembered.clear()
  if (id !== '') remembered.set(key, found)
  return found
}

const isYaml = (name: string) => /\.ya?ml$/i.test(name)

function read(tree: Tree, repository: string, path: string): FluxFile[] {
  const bytes = readUnlessLarge(tree, path)
  if (!bytes) return []
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!MARKS.some(mark => text.includes(mark)) && !VALUES.every(mark => text.includes(mark))) return []
  try {
    const documents = parseDocuments({ repository, path }, bytes)
    return [{ path, objects: documents.flatMap(root => (root.type === 'map' ? [{ root, trail: [] }] : [])) }]
  } catch (error) {
    if (error instanceof BailiwickError) return []
    throw error
  }
}

function tooMany(repository: string, path: string): BailiwickError {
  const message = `more than ${MAX_FLUX_FILES} files contain Flux objects, so Bailiwick cannot search for clusters`
  const origin = { repository, file: path, line: 1, column: 1 }
  return new BailiwickError('graph-limits', message, { origin, fix: 'Move generated manifests to another repository.' })
}
