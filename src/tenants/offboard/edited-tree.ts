import { hash } from 'node:crypto'
import { isScalar, parseDocument, visit } from 'yaml'
import { overlayTree } from '../../fleet/rendering/trees.ts'
import { parentOf, type Tree, type TreeEntry } from '../../git/tree.ts'
import { joinPath, KUSTOMIZATION_FILES } from '../../kustomize/paths.ts'

/** The new content of files; null: the file is deleted. */
export type Edits = ReadonlyMap<string, string | null>

/** A tree after edits. Directories without a file are gone, as in git. */
export function editedTree(tree: Tree, edits: Edits): Tree {
  const written = new Map([...edits].filter((one): one is [string, string] => one[1] !== null))
  const gone = [...edits.keys()].filter(path => !written.has(path)).sort()
  const over = overlayTree(tree, written)
  if (gone.length === 0) return over
  const id = hash('sha1', JSON.stringify([over.id, gone]))
  const away = new Set(gone)
  // what lies in another directory comes before it
  const changed = new Set(gone.flatMap(directoriesOf).sort((a, b) => b.length - a.length))
  for (const path of changed) {
    if (path !== '' && over.list(path).every(entry => away.has(entry.path))) away.add(path)
  }
  // the id of a directory stands for all that is in it
  const left = (entry: TreeEntry | undefined): TreeEntry[] => {
    if (!entry || away.has(entry.path)) return []
    return [changed.has(entry.path) ? { ...entry, id: hash('sha1', `${id} ${entry.path}`) } : entry]
  }
  return {
    id,
    entry: path => left(over.entry(path))[0],
    list: path => (away.has(path) ? [] : over.list(path).flatMap(left)),
    read: path => over.read(path),
  }
}

/** The directories that a path lies in, the root too. */
const directoriesOf = (path: string): string[] =>
  path === '' ? [] : [parentOf(path), ...directoriesOf(parentOf(path))]

/** The text of a file; undefined where there is none. */
export function textAt(tree: Tree, path: string): string | undefined {
  if (tree.entry(path)?.type !== 'file') return undefined
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(tree.read(path))
}

/** Every file below a directory, or the file itself. */
export function filesBelow(tree: Tree, path: string): string[] {
  const entry = tree.entry(path)
  if (entry && entry.type !== 'directory') return [path]
  const found: string[] = []
  const open = [path]
  for (let here = open.pop(); here !== undefined; here = open.pop()) {
    for (const child of tree.list(here)) {
      if (child.type === 'directory') open.push(child.path)
      else found.push(child.path)
    }
  }
  return found.sort()
}

/** A path that a kustomization in directory `from` names, in the tree; undefined where it leads out of it or to elsewhere. */
export function resolvePath(from: string, entry: string): string | undefined {
  if (entry.includes('://') || entry.startsWith('/') || entry.includes('?')) return undefined
  return joinPath(from, entry)?.join('/')
}

/** Whether `path` is `directory` or lies below it. */
export const isInside = (path: string, directory: string): boolean =>
  directory === '' || path === directory || path.startsWith(`${directory}/`)

/** A path of a Flux object as the tree writes it. */
export const cleanPath = (path: string): string =>
  path
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .join('/')

const NAMES: ReadonlySet<string> = new Set(KUSTOMIZATION_FILES)

/** Whether a file is a kustomization by its name. */
export const isKustomizationFile = (path: string): boolean => NAMES.has(path.slice(path.lastIndexOf('/') + 1))

/** Every kustomization of a tree, and the paths that it names, whether something is there or not. */
export function namedPaths(tree: Tree): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const file of filesBelow(tree, '').filter(isKustomizationFile)) {
    const text = textAt(tree, file)
    if (text === undefined) continue
    const paths: string[] = []
    visit(parseDocument(text), {
      Scalar: (_key, node) => {
        if (!isScalar(node) || typeof node.value !== 'string') return
        // a generator names its files as `key=path`
        for (const value of new Set([node.value, node.value.slice(node.value.indexOf('=') + 1)])) {
          const path = resolvePath(parentOf(file), value)
          if (path !== undefined) paths.push(path)
        }
      },
    })
    found.set(file, paths)
  }
  return found
}

/** Whether a kustomization outside of `path` names it, something in it, or a directory that Flux reads as a whole. */
export function isNamed(path: string, named: ReadonlyMap<string, readonly string[]>): boolean {
  return [...named].some(([file, paths]) => !isInside(file, path) && paths.some(one => isInside(one, path)))
}
