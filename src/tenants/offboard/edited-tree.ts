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
  const gone = new Set([...edits].filter(([, text]) => text === null).map(([path]) => path))
  const over = overlayTree(tree, written)
  if (gone.size === 0) return over
  const empty = emptied(over, gone)
  const isLeft = (path: string) => !gone.has(path) && !empty.has(path)
  const id = hash('sha1', JSON.stringify([over.id, [...gone].sort()]))
  const changed = new Set([...gone].flatMap(directoriesOf))
  // the id of a directory stands for all that is in it
  const renewed = (entry: TreeEntry) =>
    changed.has(entry.path) ? { ...entry, id: hash('sha1', `${id} ${entry.path}`) } : entry
  return {
    id,
    entry: path => {
      const entry = isLeft(path) ? over.entry(path) : undefined
      return entry && renewed(entry)
    },
    list: path =>
      isLeft(path)
        ? over
            .list(path)
            .filter(entry => isLeft(entry.path))
            .map(renewed)
        : [],
    read: path => over.read(path),
  }
}

/** The directories that a path lies in, the root too. */
function directoriesOf(path: string): string[] {
  const found = ['']
  for (let here = parentOf(path); here !== ''; here = parentOf(here)) found.push(here)
  return found
}

function emptied(tree: Tree, gone: ReadonlySet<string>): Set<string> {
  const empty = new Set<string>()
  const paths = [...gone].sort((a, b) => b.split('/').length - a.split('/').length)
  for (const path of paths) {
    for (let here = parentOf(path); here !== ''; here = parentOf(here)) {
      if (!tree.list(here).every(entry => gone.has(entry.path) || empty.has(entry.path))) break
      empty.add(here)
    }
  }
  return empty
}

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
