import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { BailiwickError } from '../errors.ts'
import { DEFAULT_LIMITS } from './entry-limits.ts'
import { type ListedEntry, treeIdOf } from './listed-tree.ts'
import { objectId } from './object-id.ts'
import { entriesBelow, type Tree, type TreeEntry } from './tree.ts'

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
    const names = entry(path)?.type === 'directory' ? attempt(path, () => readdirSync(join(root, path))) : []
    const listed = names
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

function readRegular(full: string, path: string): Uint8Array {
  // O_NOFOLLOW: the file may have become a link since it was looked at; O_NONBLOCK: or a pipe
  const file = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size } = fstatSync(file)
    if (size <= DEFAULT_LIMITS.bytes) return readFileSync(file)
    const message = `${path}: too large (${size} bytes). At most ${DEFAULT_LIMITS.bytes} bytes are read`
    throw new BailiwickError('render-limits', message, { fix: 'Split the file.' })
  } finally {
    closeSync(file)
  }
}

function attempt<T>(path: string, access: () => T): T {
  try {
    return access()
  } catch (cause) {
    if (cause instanceof BailiwickError || !(cause instanceof Error) || !('code' in cause)) throw cause
    const message = `${path || 'the folder'}: cannot be read (${String(cause.code)})`
    throw new BailiwickError('source-unreadable', message, { cause, fix: 'Check its permissions.' })
  }
}
