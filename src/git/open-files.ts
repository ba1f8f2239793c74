import { createHash } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
} from 'node:fs'
import { join } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { checkFileSize, checkSize, LOCAL_LIMITS, MAX_FILE_BYTES, type TreeLimits } from './entry-limits.ts'
import type { KnownIds } from './index-stats.ts'
import { lazyTree } from './lazy-tree.ts'
import type { ListedEntry } from './listed-tree.ts'
import { objectId } from './object-id.ts'
import { askGitNow } from './run-git.ts'
import type { Tree } from './tree.ts'

/** What openFiles may know besides the files. */
interface KnownFiles {
  /** Entries that lie elsewhere: their contents are blobs of the repository. */
  readonly others?: readonly ListedEntry[]
  /** Some of these contents, by id. */
  readonly blobs?: ReadonlyMap<string, Uint8Array>
  readonly known?: KnownIds
  readonly limits?: TreeLimits
}

/**
 * These files of a folder as a tree. Links are recorded, never followed; a file whose id is not known is read once for it, in
 * pieces. Throws `source-unreadable`, with the file, for what the system denies.
 */
export function openFiles(dir: string, paths: readonly string[], more: KnownFiles = {}): Tree {
  const { others = [], blobs, known = () => undefined, limits = LOCAL_LIMITS } = more
  checkSize(dir, paths.length + others.length, 0, limits)
  const isReal = realDirectories(dir)
  const entries: ListedEntry[] = [...others]
  for (const path of paths) {
    const entry = isReal(path.slice(0, Math.max(0, path.lastIndexOf('/')))) && entryOf(dir, path, known)
    if (entry) entries.push(entry)
  }
  const elsewhere = new Set(others)
  const load = (entry: ListedEntry) =>
    elsewhere.has(entry) ? (blobs?.get(entry.id) ?? blobOf(dir, entry.id)) : contentOf(dir, entry)
  return lazyTree(dir, entries, load, limits)
}

/** The content of a blob that a repository of this machine has. Throws `git-missing`, or `git-corrupt` for another content. */
export function blobOf(dir: string, id: string): Uint8Array {
  const content = askGitNow(dir, ['cat-file', 'blob', id], MAX_FILE_BYTES)
  if (!content) {
    throw new BailiwickError('git-missing', `${dir}: blob ${id} is missing, or larger than ${MAX_FILE_BYTES} bytes`, {
      fix: 'A partial clone has no file contents. Run: git fetch --refetch --no-filter',
    })
  }
  if (objectId('blob', content) !== id) throw new BailiwickError('git-corrupt', `blob ${id} is damaged`)
  return content
}

function entryOf(dir: string, path: string, known: KnownIds): ListedEntry | undefined {
  const full = join(dir, path)
  const stats = attempt(path, () => lstatSync(full, { bigint: true, throwIfNoEntry: false }))
  if (!stats || !(stats.isFile() || stats.isSymbolicLink())) return undefined
  const mode = stats.isSymbolicLink() ? '120000' : stats.mode & 0o100n ? '100755' : '100644'
  return { path, mode, id: known(path, stats) ?? attempt(path, () => hashOf(full, stats)) }
}

function hashOf(full: string, stats: BigIntStats): string {
  if (stats.isSymbolicLink()) return objectId('blob', readlinkSync(full, { encoding: 'buffer' }))
  const file = openRegular(full)
  try {
    const { size } = fstatSync(file)
    if (size <= PIECE) return objectId('blob', readFileSync(file))
    const hash = createHash('sha1').update(`blob ${size}\0`)
    const piece = Buffer.alloc(PIECE)
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) hash.update(piece.subarray(0, read))
    return hash.digest('hex')
  } finally {
    closeSync(file)
  }
}

const PIECE = 1024 * 1024

/**
 * What git would record: where a filter of git wrote other bytes than it keeps (line ends, large files), those that it keeps.
 */
function contentOf(dir: string, { path, mode, id }: ListedEntry): Uint8Array {
  const full = join(dir, path)
  const content = attempt(path, () =>
    mode === '120000' ? readlinkSync(full, { encoding: 'buffer' }) : readRegular(full, path),
  )
  return objectId('blob', content) === id ? content : blobOf(dir, id)
}

function readRegular(full: string, path: string): Uint8Array {
  const file = openRegular(full)
  try {
    checkFileSize(path, fstatSync(file).size)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** O_NOFOLLOW: the file may have become a link since it was looked at; O_NONBLOCK: or a pipe. */
const openRegular = (full: string): number =>
  openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)

/** Answers whether a directory below `dir` is reached without passing a link; asks the disk once for each. */
function realDirectories(dir: string): (path: string) => boolean {
  const known = new Map<string, boolean>([['', true]])
  const isReal = (path: string): boolean => {
    const before = known.get(path)
    if (before !== undefined) return before
    const parent = isReal(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
    const stats = parent ? attempt(path, () => lstatSync(join(dir, path), { throwIfNoEntry: false })) : undefined
    const real = stats?.isDirectory() ?? false
    known.set(path, real)
    return real
  }
  return isReal
}

function attempt<T>(path: string, access: () => T): T {
  try {
    return access()
  } catch (cause) {
    if (cause instanceof BailiwickError || !(cause instanceof Error) || !('code' in cause)) throw cause
    if (cause.code === 'ENOTDIR') return undefined as T
    const message = `${path || 'the folder'}: cannot be read (${String(cause.code)})`
    const origin = { repository: '', file: path, line: 0, column: 0 }
    throw new BailiwickError('source-unreadable', message, { origin, cause, fix: 'Correct its permissions.' })
  }
}
