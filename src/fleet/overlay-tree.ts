import { createHash } from 'node:crypto'
import type { Tree, TreeEntry } from '../git/tree.ts'

/** `tree` with other content in some of its files. Ids of everything that differs are new, so caches by id stay right. */
export function overlayTree(tree: Tree, files: ReadonlyMap<string, string>): Tree {
  const bytes = new Map([...files].map(([path, content]) => [path, new TextEncoder().encode(content)]))
  const mark = createHash('sha1')
    .update(JSON.stringify([tree.id, [...files]]))
    .digest('hex')
  const touches = (path: string) => [...files.keys()].some(file => file === path || file.startsWith(`${path}/`))
  const map = (entry: TreeEntry): TreeEntry => {
    if (entry.path !== '' && !touches(entry.path)) return entry
    return { ...entry, id: createHash('sha1').update(`${mark} ${entry.path}`).digest('hex') }
  }
  return {
    id: mark,
    entry: path => {
      const entry = tree.entry(path)
      return entry && map(entry)
    },
    list: path => tree.list(path).map(map),
    read: path => bytes.get(path) ?? tree.read(path),
  }
}
