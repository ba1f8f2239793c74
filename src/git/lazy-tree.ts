import { BailiwickError } from '../errors.ts'
import { checkPaths, checkSize, LOCAL_LIMITS, type TreeLimits } from './entry-limits.ts'
import type { ListedEntry } from './listed-tree.ts'
import { MemoryCache } from './memory-cache.ts'
import type { Tree, TreeEntry } from './tree.ts'
import { directoriesOf } from './tree-entries.ts'

/** Contents that are kept; what was forgotten is read again. */
const MEMORY_BYTES = 128 * 1024 * 1024

/**
 * A tree whose ids are known and whose contents are read when they are asked for, so that its size does not matter. Throws
 * `git-ambiguous` for names that git would not check out, `render-limits` for too many files; `read` throws what `load` does.
 */
export function lazyTree(
  what: string,
  entries: readonly ListedEntry[],
  load: (entry: ListedEntry) => Uint8Array,
  limits: TreeLimits = LOCAL_LIMITS,
): Tree {
  checkSize(what, entries.length, 0, limits)
  checkPaths(what, entries)
  const directories = directoriesOf(entries.map(entry => ({ ...entry, offset: 0, length: 0 })))
  const files = new Map(entries.map(entry => [entry.path, entry]))
  const root: TreeEntry = { name: '', path: '', type: 'directory', id: directories.get('')!.id }
  const all = new Map<string, TreeEntry>([['', root]])
  for (const directory of directories.values()) for (const entry of directory.entries) all.set(entry.path, entry)
  const contents = new MemoryCache<Uint8Array>(MEMORY_BYTES)
  return {
    id: root.id,
    entry: path => all.get(path),
    list: path => directories.get(path)?.entries ?? [],
    read: path => {
      const known = contents.get(path)
      if (known) return known
      const file = files.get(path)
      if (!file || file.mode === '160000')
        throw new BailiwickError('git-missing', `${JSON.stringify(path)}: no such file`)
      const content = load(file)
      contents.set(path, content, content.length + 200)
      return content
    },
  }
}
