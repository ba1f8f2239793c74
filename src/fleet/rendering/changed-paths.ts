import type { Tree, TreeEntry } from '../../git/tree.ts'

/**
 * Paths at which two trees differ: files that are other, new or gone, and every directory that leads to one. Directories
 * with the same id are never listed, so it costs what has changed.
 */
export function changedPaths(before: Tree, after: Tree): ReadonlySet<string> {
  const changed = new Set<string>()
  if (before.id !== after.id) compare(before, after, '', changed)
  return changed
}

function compare(before: Tree, after: Tree, directory: string, changed: Set<string>): void {
  changed.add(directory)
  const [old, young] = [byName(before.list(directory)), byName(after.list(directory))]
  for (const name of new Set([...old.keys(), ...young.keys()])) {
    const [was, is] = [old.get(name), young.get(name)]
    if (was && is && was.id === is.id && was.type === is.type) continue
    const { path } = (was ?? is)!
    changed.add(path)
    if (was?.type === 'directory' || is?.type === 'directory') compare(before, after, path, changed)
  }
}

const byName = (entries: readonly TreeEntry[]) => new Map(entries.map(entry => [entry.name, entry]))
