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
import { BailiwickError } from '../base/errors.ts'
import { checkFileSize, checkSize, LOCAL_LIMITS, MAX_FILE_BYTES, type TreeLimits } from './entry-limits.ts'
import { lazyTree } from './object-store.ts'
import { askGit, askGitNow, runGit } from './run-git.ts'
import { type ListedEntry, objectId, type Tree } from './tree.ts'

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

/** What git would record: where a filter of git wrote other bytes (line ends, large files), those that git keeps. */
function contentOf(dir: string, { path, mode, id }: ListedEntry): Uint8Array {
  const full = join(dir, path)
  const content = attempt(path, () =>
    mode === '120000' ? readlinkSync(full, { encoding: 'buffer' }) : readRegular(full, path),
  )
  return objectId('blob', content) === id ? content : blobOf(dir, id)
}

export function readRegular(full: string, path: string): Uint8Array {
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

export function attempt<T>(path: string, access: () => T): T {
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

/** Ids of tracked files that are as git left them, so that nothing of them has to be read to know them. */
type KnownIds = (path: string, stats: BigIntStats) => string | undefined

const ENTRY =
  /^H (?:100644|100755|120000) ([0-9a-f]{40}) 0\t([^\0]*)\0 {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n {2}uid: \d+\tgid: \d+\n {2}size: (\d+)\tflags: [0-9a-f]+$/

interface Stat {
  readonly id: string
  readonly ctime: bigint
  readonly mtime: bigint
  readonly ino: bigint
  readonly size: bigint
}

/**
 * What the index says about files that were not touched since git wrote them: times to the nanosecond, inode and size are what
 * git noted, before it wrote the index. Everything else, or an index in another form, is not known and is read instead.
 */
export async function indexStats(dir: string, index: string): Promise<KnownIds> {
  const stats = new Map<string, Stat>()
  const listing = (await askGit(dir, ['ls-files', '--stage', '-t', '-z', '--debug']))?.toString() ?? ''
  const written = lstatSync(index, { bigint: true, throwIfNoEntry: false })?.mtimeNs
  if (!written) return () => undefined
  for (const record of listing.split(/\n(?=[A-Za-z?] \d{6} )/)) {
    const match = ENTRY.exec(record.replace(/\n$/, ''))
    if (!match) continue
    const [, id = '', path = '', cs = '', cn = '', ms = '', mn = '', ino = '', size = ''] = match
    const time = (seconds: string, nanoseconds: string) => BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds)
    stats.set(path, { id, ctime: time(cs, cn), mtime: time(ms, mn), ino: BigInt(ino), size: BigInt(size) })
  }
  return (path, now) => {
    const was = stats.get(path)
    if (!was || was.mtime >= written) return undefined
    const isSame =
      was.mtime === now.mtimeNs &&
      was.ctime === now.ctimeNs &&
      (was.ino & MASK) === (now.ino & MASK) &&
      was.size === (now.size & MASK)
    return isSame ? was.id : undefined
  }
}

/** The index has 32 bits for each. */
const MASK = 0xffff_ffffn

/** Reads blobs of a local repository by id, each checked. Throws `git-missing` for one that is not there, `git-corrupt`. */
export async function readBlobs(dir: string, ids: readonly string[]): Promise<Map<string, Uint8Array>> {
  const blobs = new Map<string, Uint8Array>()
  if (ids.length === 0) return blobs
  const { output } = await runGit(dir, ['cat-file', '--batch'], `${ids.join('\n')}\n`)
  let at = 0
  for (const id of ids) {
    const end = output.indexOf(0x0a, at)
    const [found, type, size] = output.toString('utf8', at, end < 0 ? output.length : end).split(' ')
    if (end < 0 || found !== id || type !== 'blob') {
      throw new BailiwickError('git-missing', `blob ${id}: missing in the repository`, {
        fix: 'Partial and shallow clones are not supported. Run: git fetch --unshallow --refetch --no-filter',
      })
    }
    const content = output.subarray(end + 1, end + 1 + Number(size))
    if (objectId('blob', content) !== id) throw new BailiwickError('git-corrupt', `blob ${id} is damaged`)
    blobs.set(id, content)
    at = end + 1 + Number(size) + 1
  }
  return blobs
}

/** Larger ones, and more of them, are read when they are asked for. */
const SMALL = { each: 1024 * 1024, all: 96 * 1024 * 1024 }

/** The small ones of these blobs, read at once; those that are not there are left out. */
export async function smallBlobs(dir: string, ids: readonly string[]): Promise<Map<string, Uint8Array>> {
  if (ids.length === 0) return new Map()
  const { output } = await runGit(dir, ['cat-file', '--batch-check'], `${[...new Set(ids)].join('\n')}\n`)
  const wanted: string[] = []
  let left = SMALL.all
  for (const line of output.toString().split('\n')) {
    const [id = '', type, size] = line.split(' ')
    if (type !== 'blob' || Number(size) > SMALL.each || Number(size) > left) continue
    left -= Number(size)
    wanted.push(id)
  }
  return readBlobs(dir, wanted)
}
