import type { TreeSnapshot } from '../../src/git/tree.ts'

/** Paths of files that differ between two trees of one repository: added, changed or removed. */
export function changedPaths(base: TreeSnapshot, head: TreeSnapshot): ReadonlySet<string> {
  const before = new Map(base.entries.map(entry => [entry.path, `${entry.mode} ${entry.id}`]))
  const changed = new Set<string>()
  for (const entry of head.entries) {
    if (before.get(entry.path) !== `${entry.mode} ${entry.id}`) changed.add(entry.path)
    before.delete(entry.path)
  }
  for (const path of before.keys()) changed.add(path)
  return changed
}
