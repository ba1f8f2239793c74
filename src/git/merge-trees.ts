import { mergeLines } from './merge-lines.ts'
import { packSnapshot, type SnapshotFile } from './snapshot.ts'
import type { SnapshotEntry, TreeSnapshot } from './tree.ts'

/** What merging gives; `conflict`: git cannot merge it; `unknown`: git may merge it in a way that is not followed here. */
export type MergedTree = { readonly tree: TreeSnapshot } | 'conflict' | 'unknown'

/** More files that both sides changed are not merged here. */
const MOST_TEXTS = 500

/**
 * Three-way merge of trees, file by file and line by line, as git merges them where no file was renamed. Where a rename may
 * make a difference (one side removed a file that the other one changed, and has files of its own) it is `unknown`.
 */
export function mergeTrees(base: TreeSnapshot, ours: TreeSnapshot, theirs: TreeSnapshot): MergedTree {
  const sides = [base, ours, theirs].map(filesOf) as [Files, Files, Files]
  const [o, a, b] = sides
  const isNewIn = (side: Files) => [...side.keys()].some(path => !o.has(path))
  const renames = { ours: isNewIn(a), theirs: isNewIn(b) }
  const files: SnapshotFile[] = []
  let texts = 0
  for (const path of new Set([...o.keys(), ...a.keys(), ...b.keys()])) {
    const [was, mine, other] = [o.get(path), a.get(path), b.get(path)]
    const kept = unchanged(was, mine, other)
    if (kept === 'gone') continue
    if (kept) {
      files.push(fileOf(kept))
      continue
    }
    if (!mine || !other) return (mine ? renames.theirs : renames.ours) ? 'unknown' : 'conflict'
    if (++texts > MOST_TEXTS) return 'unknown'
    const merged = mergeFile(was, mine, other)
    if (typeof merged === 'string') return merged
    files.push(merged)
  }
  if (collides(files)) return 'conflict'
  return { tree: packSnapshot(files.sort((one, two) => (one.path < two.path ? -1 : 1))) }
}

interface File {
  readonly entry: SnapshotEntry
  readonly bytes: Uint8Array
}

type Files = ReadonlyMap<string, File>

function filesOf({ entries, bytes }: TreeSnapshot): Files {
  return new Map(
    entries.map(entry => [entry.path, { entry, bytes: bytes.subarray(entry.offset, entry.offset + entry.length) }]),
  )
}

const same = (one: File | undefined, other: File | undefined) =>
  one?.entry.id === other?.entry.id && one?.entry.mode === other?.entry.mode

/** The side that counts where at most one changed; undefined where both did. */
function unchanged(was: File | undefined, mine: File | undefined, other: File | undefined): File | 'gone' | undefined {
  if (same(mine, other) || same(other, was)) return mine ?? 'gone'
  return same(mine, was) ? (other ?? 'gone') : undefined
}

function fileOf({ entry: { path, mode, id }, bytes }: File): SnapshotFile {
  return { path, mode, id, content: bytes }
}

function mergeFile(was: File | undefined, mine: File, other: File): SnapshotFile | 'conflict' | 'unknown' {
  if (!was || [was, mine, other].some(({ entry }) => !entry.mode.startsWith('100'))) return 'conflict'
  const { path } = mine.entry
  const mode = mine.entry.mode === was.entry.mode ? other.entry.mode : mine.entry.mode
  if (mine.entry.id === other.entry.id || other.entry.id === was.entry.id) return { path, mode, content: mine.bytes }
  if (mine.entry.id === was.entry.id) return { path, mode, content: other.bytes }
  // latin1 keeps every byte; a file with a NUL is binary for git and never merged
  const [base, ours, theirs] = [was, mine, other].map(({ bytes }) => Buffer.from(bytes).toString('latin1'))
  if ([base, ours, theirs].some(text => text!.includes('\0'))) return 'conflict'
  const merged = mergeLines(base!, ours!, theirs!)
  return typeof merged === 'string' ? merged : { path, mode, content: Buffer.from(merged.text, 'latin1') }
}

/** Whether a file of one side stands where the other one has a directory. */
function collides(files: readonly SnapshotFile[]): boolean {
  const directories = new Set<string>()
  for (const { path } of files) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) directories.add(path.slice(0, at))
  }
  return files.some(({ path }) => directories.has(path))
}
