import { hash } from 'node:crypto'
import type { Tree, TreeEntry } from '../git/tree.ts'

/**
 * A tree with some files written over or added, nothing removed. Ids of what changed are made up (they are no git ids), but
 * still differ whenever content differs. A path that runs through a file of `tree` is the caller's to refuse.
 */
export function overlayTree(tree: Tree, files: ReadonlyMap<string, string>): Tree {
  const contents = new Map([...files].map(([path, text]) => [path, new TextEncoder().encode(text)]))
  const id = hash('sha1', JSON.stringify([tree.id, [...files].sort(([a], [b]) => (a < b ? -1 : 1))]))
  const entries = new Map<string, TreeEntry>()
  const children = new Map<string, Map<string, TreeEntry>>()
  const put = (entry: TreeEntry) => {
    entries.set(entry.path, entry)
    const parent = parentOf(entry.path)
    if (!children.has(parent)) children.set(parent, new Map(tree.list(parent).map(child => [child.name, child])))
    children.get(parent)!.set(entry.name, entry)
    if (parent !== '' && !entries.has(parent)) {
      put({ name: nameOf(parent), path: parent, type: 'directory', id: hash('sha1', `${id} ${parent}`) })
    }
  }
  for (const [path, bytes] of contents) {
    put({ name: nameOf(path), path, type: 'file', id: hash('sha1', bytes) })
  }
  entries.set('', { name: '', path: '', type: 'directory', id })
  return {
    id,
    entry: path => entries.get(path) ?? tree.entry(path),
    list: path => {
      const merged = children.get(path)
      return merged ? [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1)) : tree.list(path)
    },
    read: path => contents.get(path) ?? tree.read(path),
  }
}

/** Directory of a path; '' for one at the root. */
export const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

/** `target` as seen from directory `from`: `../base/x`. Both relative to the root, without dots. */
export function relativePath(from: string, target: string): string {
  const a = from === '' ? [] : from.split('/')
  const b = target.split('/')
  let common = 0
  while (common < a.length && common < b.length && a[common] === b[common]) common++
  return [...a.slice(common).map(() => '..'), ...b.slice(common)].join('/')
}
