import { hash } from 'node:crypto'
import { overlayTree, parentOf } from '../fleet/bootstrap/overlay-tree.ts'
import type { Tree } from '../git/tree.ts'

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
  return {
    id: hash('sha1', JSON.stringify([over.id, [...gone].sort()])),
    entry: path => (isLeft(path) ? over.entry(path) : undefined),
    list: path => (isLeft(path) ? over.list(path).filter(entry => isLeft(entry.path)) : []),
    read: path => over.read(path),
  }
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
