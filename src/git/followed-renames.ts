import { parentsOf } from './parents-of.ts'
import type { SnapshotEntry } from './tree.ts'

type Paths = ReadonlyMap<string, { readonly entry: SnapshotEntry }>

/**
 * Whether git may have taken files that one side removed for files that it added (a rename), and would carry over to the new
 * place what the other side did at the old one. Which of them are alike enough is not asked: all that could be counts.
 */
export function mayFollowRenames(base: Paths, ours: Paths, theirs: Paths): boolean {
  return carries(base, ours, theirs) || carries(base, theirs, ours)
}

function carries(base: Paths, side: Paths, other: Paths): boolean {
  const removed = [...base.values()].filter(({ entry }) => !side.has(entry.path))
  const added = [...side.keys()].filter(path => !base.has(path))
  if (removed.length === 0 || added.length === 0) return false
  const isChanged = ({ entry }: { readonly entry: SnapshotEntry }) => {
    const there = other.get(entry.path)?.entry
    return there?.id !== entry.id || there.mode !== entry.mode
  }
  if (removed.some(isChanged) || added.some(path => other.has(path))) return true
  // a directory that is gone may have been renamed: what the other side adds there would move, too
  const kept = new Set([...side.keys()].flatMap(parentsOf))
  const gone = new Set(removed.flatMap(({ entry }) => parentsOf(entry.path)).filter(directory => !kept.has(directory)))
  return [...other.keys()].some(path => !base.has(path) && parentsOf(path).some(directory => gone.has(directory)))
}
