import { mergeLines } from './merge-lines.ts'
import type { FileEntry, Files, ObjectStore } from './store.ts'
import { flatten, writeTree } from './trees.ts'

type MergeResult = { readonly tree: string } | { readonly conflicts: readonly string[] }

/**
 * Three-way merge of trees, file by file and then line by line. Renames are not detected: a file renamed on one side
 * and changed on the other is a conflict here, where git would follow it.
 */
export function mergeTrees(store: ObjectStore, base: string | undefined, ours: string, theirs: string): MergeResult {
  const [o, a, b] = [base ? flatten(store, base) : new Map(), flatten(store, ours), flatten(store, theirs)]
  const merged = new Map<string, FileEntry>()
  const conflicts: string[] = []
  for (const path of new Set([...o.keys(), ...a.keys(), ...b.keys()])) {
    const entry = mergeEntry(store, o.get(path), a.get(path), b.get(path))
    if (entry === 'conflict') conflicts.push(path)
    else if (entry) merged.set(path, entry)
  }
  conflicts.push(...filesThatAreDirectories(merged))
  return conflicts.length > 0 ? { conflicts: conflicts.sort() } : { tree: writeTree(store, merged) }
}

type Side = FileEntry | undefined

function mergeEntry(store: ObjectStore, base: Side, ours: Side, theirs: Side): Side | 'conflict' {
  if (same(ours, theirs) || same(theirs, base)) return ours
  if (same(ours, base)) return theirs
  if (!ours || !theirs) return 'conflict'
  const mode = base && ours.mode === base.mode ? theirs.mode : ours.mode
  if (ours.sha === theirs.sha) return { mode, sha: ours.sha }
  if (base && (theirs.sha === base.sha || ours.sha === base.sha)) {
    return { mode, sha: theirs.sha === base.sha ? ours.sha : theirs.sha }
  }
  const texts = [base, ours, theirs].map(side => textOf(store, side))
  const [o, a, b] = texts
  if (!base || o === undefined || a === undefined || b === undefined) return 'conflict'
  const text = mergeLines(o, a, b)
  return text === undefined ? 'conflict' : { mode, sha: store.put('blob', Buffer.from(text, 'latin1')) }
}

function same(a: Side, b: Side): boolean {
  return a?.sha === b?.sha && a?.mode === b?.mode
}

/** Latin-1 keeps every byte, so any encoding survives; a file with a NUL is binary for git and never merged. */
function textOf(store: ObjectStore, side: Side): string | undefined {
  if (!side?.mode.startsWith('100')) return undefined
  const text = Buffer.from(store.blob(side.sha) ?? []).toString('latin1')
  return text.includes('\0') ? undefined : text
}

function filesThatAreDirectories(files: Files): string[] {
  const directories = new Set<string>()
  for (const path of files.keys()) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) directories.add(path.slice(0, at))
  }
  return [...files.keys()].filter(path => directories.has(path))
}
