import { hash } from 'node:crypto'
import type { Tree, TreeEntry } from '../../git/tree.ts'

/**
 * A tree with some files written over or added, nothing removed. Ids of what changed are made up (they are no git ids), but
 * still differ whenever content differs. A path that runs through a file of `tree` is the caller's to refuse.
 */
export function overlayTree(tree: Tree, files: ReadonlyMap<string, string | Uint8Array>): Tree {
  const contents = new Map(
    [...files].map(([path, text]) => [path, typeof text === 'string' ? new TextEncoder().encode(text) : text]),
  )
  const written = [...files].map(
    ([path, text]) => [path, typeof text === 'string' ? text : hash('sha1', text)] as const,
  )
  const id = hash('sha1', JSON.stringify([tree.id, written.sort(([a], [b]) => (a < b ? -1 : 1))]))
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
      return merged ? [...merged.values()].sort(byName) : tree.list(path)
    },
    read: path => contents.get(path) ?? tree.read(path),
  }
}

/** Directory of a path; '' for one at the root. */
export const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
// in byte order, as every tree lists
const byName = (a: TreeEntry, b: TreeEntry) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
