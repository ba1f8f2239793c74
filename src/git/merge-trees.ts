import { mergeLines } from './merge-lines.ts'
import { packSnapshot, type SnapshotFile } from './snapshot.ts'
import type { SnapshotEntry, TreeSnapshot } from './tree.ts'

/** What merging gives; `conflict`: git cannot merge it; `unknown`: git may merge it in a way that is not followed here. */
type MergedTree = { readonly tree: TreeSnapshot } | 'conflict' | 'unknown'

/** More files that both sides changed are not merged here. */
const MOST_TEXTS = 500

/** How far git looks for a NUL, which makes a file binary. */
const LOOKED_AT = 8000

/**
 * Three-way merge of trees, file by file and line by line, as git's `ort` merges them where no file was renamed. Where a
 * rename may make a difference it is `unknown`, as it is where attributes name another way to merge, and for submodules.
 */
export function mergeTrees(base: TreeSnapshot, ours: TreeSnapshot, theirs: TreeSnapshot): MergedTree {
  const sides = [base, ours, theirs].map(filesOf) as [Files, Files, Files]
  if (mayFollowRenames(...sides)) return 'unknown'
  const [o, a, b] = sides
  const files: SnapshotFile[] = []
  let texts = 0
  let isUnknown = false
  for (const path of new Set([...o.keys(), ...a.keys(), ...b.keys()])) {
    const [was, mine, other] = [o.get(path), a.get(path), b.get(path)]
    const kept = unchanged(was, mine, other)
    if (kept === 'gone') continue
    if (kept) {
      files.push(fileOf(kept))
      continue
    }
    if (!mine || !other) return 'conflict'
    const merged = ++texts > MOST_TEXTS || hasAttributes(path, sides) ? 'unknown' : mergeFile(was, mine, other)
    if (merged === 'conflict') return 'conflict'
    if (merged === 'unknown') isUnknown = true
    else files.push(merged)
  }
  if (isUnknown) return 'unknown'
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
  const present = [was, mine, other].filter(file => file !== undefined)
  // with the submodule at hand, git takes the commit that contains the other one
  if (present.some(({ entry }) => entry.mode === '160000')) return 'unknown'
  if (present.some(({ entry }) => entry.mode === '120000')) return 'conflict'
  const { path } = mine.entry
  if (!was && mine.entry.mode !== other.entry.mode) return 'conflict'
  const mode = mine.entry.mode === was?.entry.mode ? other.entry.mode : mine.entry.mode
  if (mine.entry.id === other.entry.id || other.entry.id === was?.entry.id) return { path, mode, content: mine.bytes }
  if (mine.entry.id === was?.entry.id) return { path, mode, content: other.bytes }
  // latin1 keeps every byte
  const [ours, theirs] = [mine, other].map(({ bytes }) => Buffer.from(bytes).toString('latin1')) as [string, string]
  const base = was ? Buffer.from(was.bytes).toString('latin1') : ''
  if ([base, ours, theirs].some(text => text.slice(0, LOOKED_AT).includes('\0'))) return 'conflict'
  const merged = mergeLines(base, ours, theirs)
  return typeof merged === 'string' ? merged : { path, mode, content: Buffer.from(merged.text, 'latin1') }
}

/** Whether attributes may say how this file is merged (`merge=union`, `-merge`, `binary`); which of them count is GitHub's. */
function hasAttributes(path: string, sides: readonly Files[]): boolean {
  const places = [...parentsOf(path), ''].map(directory =>
    directory ? `${directory}/.gitattributes` : '.gitattributes',
  )
  return sides.some(side =>
    places.some(place => {
      const file = side.get(place)
      return file !== undefined && /merge|binary/.test(Buffer.from(file.bytes).toString('latin1'))
    }),
  )
}

/** Whether a file of one side stands where the other one has a directory. */
function collides(files: readonly SnapshotFile[]): boolean {
  const directories = new Set<string>()
  for (const { path } of files) for (const directory of parentsOf(path)) directories.add(directory)
  return files.some(({ path }) => directories.has(path))
}

type Paths = ReadonlyMap<string, { readonly entry: SnapshotEntry }>

/**
 * Whether git may have taken files that one side removed for files that it added (a rename), and would carry over to the new
 * place what the other side did at the old one. Which of them are alike enough is not asked: all that could be counts.
 */
function mayFollowRenames(base: Paths, ours: Paths, theirs: Paths): boolean {
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

/** The directories above a path, without the root. */
function parentsOf(path: string): string[] {
  const parents: string[] = []
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) parents.push(path.slice(0, at))
  return parents
}
