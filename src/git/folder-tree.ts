import { constants, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { BailiwickError } from '../base/errors.ts'
import { checkPaths, checkSize, DEFAULT_LIMITS, type TreeLimits } from './entry-limits.ts'
import { attempt, readRegular } from './open-files.ts'
import {
  entriesBelow,
  type ListedEntry,
  objectId,
  packSnapshot,
  type SnapshotFile,
  type Tree,
  type TreeEntry,
  type TreeSnapshot,
  treeIdOf,
} from './tree.ts'

/**
 * What a plain folder holds, without any `.git`. Links are recorded, not followed. Throws `git-missing` for a missing
 * folder, `git-ambiguous` for a name that is not UTF-8, `render-limits`.
 */
export async function readFolder(dir: string, limits: TreeLimits = DEFAULT_LIMITS): Promise<TreeSnapshot> {
  return readPaths(dir, await listFolder(dir, limits), limits)
}

/** The paths of all files of a plain folder. Throws as readFolder. */
export async function listFolder(dir: string, limits: TreeLimits): Promise<string[]> {
  if (!(await isDirectory(dir))) {
    throw new BailiwickError('git-missing', `${dir}: not a folder`, { fix: 'Name an existing folder.' })
  }
  const paths: string[] = []
  const visit = async (prefix: string): Promise<void> => {
    const names = await readdir(join(dir, prefix), { withFileTypes: true })
    names.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of names) {
      if (entry.name === '.git') continue
      if (entry.isDirectory()) await visit(`${prefix}${entry.name}/`)
      else paths.push(prefix + entry.name)
      checkSize(dir, paths.length, 0, limits)
    }
  }
  await visit('')
  return paths
}

/** Packs these files of a folder; those that are gone are left out, as are those behind a directory that became a link. */
export async function readPaths(
  dir: string,
  paths: readonly string[],
  limits: TreeLimits,
  others: readonly SnapshotFile[] = [],
): Promise<TreeSnapshot> {
  const files = [...others]
  checkSize(dir, files.length + paths.length, 0, limits)
  let bytes = others.reduce((sum, file) => sum + file.content.length, 0)
  const isReal = realDirectories(dir)
  for (const path of paths) {
    if (!(await isReal(path.slice(0, Math.max(0, path.lastIndexOf('/')))))) continue
    const size = (await statsOf(join(dir, path)))?.size ?? 0
    checkSize(dir, files.length, bytes + size, limits)
    const file = await readFileEntry(dir, path)
    if (!file) continue
    bytes += file.content.length
    files.push(file)
  }
  checkPaths(dir, files)
  return packSnapshot(files)
}

/** Answers whether a directory below `dir` is reached without passing a link; asks the disk once for each. */
function realDirectories(dir: string): (path: string) => Promise<boolean> {
  const known = new Map<string, boolean>([['', true]])
  const isReal = async (path: string): Promise<boolean> => {
    const before = known.get(path)
    if (before !== undefined) return before
    const parent = await isReal(path.slice(0, Math.max(0, path.lastIndexOf('/'))))
    const real = parent && ((await statsOf(join(dir, path)))?.isDirectory() ?? false)
    known.set(path, real)
    return real
  }
  return isReal
}

async function isDirectory(dir: string): Promise<boolean> {
  return (await statsOf(join(dir, '.')))?.isDirectory() ?? false
}

/**
 * A folder of this machine as a tree that reads only what it is asked for, once: for a command line, where what a build
 * needs may be a few files of a large disk. Links are seen, never followed; `.git` is left out; ids are worked out when
 * someone asks. Throws `render-limits` for a file that is too large, `source-unreadable` for what the system denies.
 */
export function diskTree(root: string): Tree {
  const entries = new Map<string, TreeEntry | undefined>([['', directoryEntry(root, '')]])
  const lists = new Map<string, readonly TreeEntry[]>()
  const contents = new Map<string, Uint8Array>()
  const entry = (path: string): TreeEntry | undefined => {
    if (entries.has(path)) return entries.get(path)
    if (path.startsWith('/')) return undefined
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    const found = entry(parent)?.type === 'directory' ? entryOf(root, path, read) : undefined
    entries.set(path, found)
    return found
  }
  const list = (path: string): readonly TreeEntry[] => {
    const known = lists.get(path)
    if (known) return known
    const isThere = entry(path)?.type === 'directory'
    const names = isThere ? attempt(path, () => readdirSync(join(root, path))) : undefined
    const listed = (names ?? [])
      .map(name => entry(path === '' ? name : `${path}/${name}`))
      .filter(found => found !== undefined)
      .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    lists.set(path, listed)
    return listed
  }
  const read = (path: string): Uint8Array => {
    const known = contents.get(path)
    if (known) return known
    const type = entry(path)?.type
    if (type !== 'file' && type !== 'symlink') {
      throw new BailiwickError('git-missing', `${JSON.stringify(path)}: no such file`)
    }
    const full = join(root, path)
    const content = attempt(path, () =>
      type === 'symlink' ? readlinkSync(full, { encoding: 'buffer' }) : readRegular(full, path),
    )
    contents.set(path, content)
    return content
  }
  return {
    get id() {
      return entries.get('')!.id
    },
    entry,
    list,
    read,
  }
}

function entryOf(root: string, path: string, read: (path: string) => Uint8Array): TreeEntry | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (['', '.', '..', '.git'].includes(name) || name.includes('\0')) return undefined
  const stats = attempt(path, () => lstatSync(join(root, path), { throwIfNoEntry: false }))
  if (stats?.isDirectory()) return directoryEntry(root, path)
  if (!stats?.isFile() && !stats?.isSymbolicLink()) return undefined
  return {
    name,
    path,
    type: stats.isFile() ? 'file' : 'symlink',
    get id() {
      return objectId('blob', read(path))
    },
  }
}

function directoryEntry(root: string, path: string): TreeEntry {
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    type: 'directory',
    get id() {
      const entries = [...entriesBelow(diskTree(join(root, path)), '')]
      return treeIdOf(
        entries.map(
          ({ path, type, id }): ListedEntry => ({ path, id, mode: type === 'symlink' ? '120000' : '100644' }),
        ),
      )
    },
  }
}

/**
 * A file of a folder as git would record it: a symlink is its target text and is never followed. Undefined for what git
 * does not record (a directory, a socket) and for what is gone.
 */
async function readFileEntry(dir: string, path: string): Promise<SnapshotFile | undefined> {
  const full = join(dir, path)
  const stats = await statsOf(full)
  if (stats?.isSymbolicLink()) return { path, mode: '120000', content: await readlink(full, { encoding: 'buffer' }) }
  if (!stats?.isFile()) return undefined
  // O_NOFOLLOW: the file may have become a link since it was looked at
  const file = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return { path, mode: stats.mode & 0o100 ? '100755' : '100644', content: await file.readFile() }
  } finally {
    await file.close()
  }
}

/** What is at a path, links not followed; undefined when nothing is (or a directory on the way is not a directory). */
export async function statsOf(full: string): Promise<Stats | undefined> {
  try {
    return await lstat(full)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw error
  }
}
