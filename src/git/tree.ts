import { createHash, hash } from 'node:crypto'
import { BailiwickError } from '../base/errors.ts'
import { message, part } from '../base/message.ts'

/** An entry of a git tree. `id` is its git object id (SHA-1, 40 hex digits). */
export interface TreeEntry {
  readonly name: string
  /** Relative to the root of the repository, '/' between names, no leading './'. */
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink' | 'submodule'
  readonly id: string
}

/** What a commit holds, in memory and read synchronously: the core asks this and never a disk or a network. */
export interface Tree {
  /** Git tree SHA of the root: same id, same content. */
  readonly id: string
  /** The entry at `path` ('' is the root directory), or undefined. Paths are exact: no '.', no '..', case-sensitive. */
  entry(path: string): TreeEntry | undefined
  /** Entries of a directory sorted by name (byte order); empty when `path` is not a directory. */
  list(path: string): readonly TreeEntry[]
  /** Bytes of a file, or the target text of a symlink. Throws BailiwickError `git-missing` where there is none. */
  read(path: string): Uint8Array
  /** Where a file was written, where that is another repository or another path than here. */
  place?(path: string): { readonly repository: string; readonly path: string } | undefined
  /** What git has at a path where this tree has nothing, because Flux leaves such things out. */
  left?(path: string): 'symlink' | 'submodule' | undefined
}

/** A tree as plain data: it crosses to a worker thread without copying the bytes (they share memory). */
export interface TreeSnapshot {
  readonly id: string
  /** Files, symlinks and submodules only; directories follow from the paths. */
  readonly entries: readonly SnapshotEntry[]
  readonly bytes: Uint8Array<SharedArrayBuffer>
}

interface SnapshotEntry {
  readonly path: string
  readonly mode: '100644' | '100755' | '120000' | '160000'
  readonly id: string
  readonly offset: number
  readonly length: number
}

/** Everything below a directory that is none itself, in the order of the tree. */
export function* entriesBelow(tree: Tree, directory: string): Generator<TreeEntry> {
  for (const entry of tree.list(directory)) {
    if (entry.type === 'directory') yield* entriesBelow(tree, entry.path)
    else yield entry
  }
}

/** Directory of a path; '' for one at the root. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The last part of a path. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The order of a directory: by name, in bytes. */
export const byName = (a: TreeEntry, b: TreeEntry): number => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))

/** An id for a directory that is in no commit: another one wherever an entry differs. `kind`: what made it. */
export const madeId = (kind: string, entries: readonly TreeEntry[]): string =>
  hash('sha1', `${kind}\0${entries.map(({ type, id, name }) => `${type} ${id} ${name}\0`).join('')}`)

/** The tree of these directories, by path, with '' for the root. `read` is asked only for what is a file or a link of it. */
export function treeOf(
  id: string,
  directories: ReadonlyMap<string, readonly TreeEntry[]>,
  read: (path: string) => Uint8Array,
  what: 'artifact' | 'sparse checkout',
): Tree {
  const entries = new Map<string, TreeEntry>([['', { name: '', path: '', type: 'directory', id }]])
  for (const list of directories.values()) for (const entry of list) entries.set(entry.path, entry)
  return {
    id,
    entry: path => entries.get(path),
    list: path => directories.get(path) ?? [],
    read: path => {
      const type = entries.get(path)?.type
      if (type === 'file' || type === 'symlink') return read(path)
      const shown = part('path', path, JSON.stringify(path))
      throw new BailiwickError('git-missing', message`the ${what} has no file ${shown}`)
    },
  }
}

/** The bytes of a file, for a search through all files; undefined for one above the size limit. */
export function readUnlessLarge(tree: Tree, path: string): Uint8Array | undefined {
  try {
    return tree.read(path)
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'render-limits') return undefined
    throw error
  }
}

/** A file to put into a snapshot; `id` spares hashing where the caller has verified it already. */
export interface SnapshotFile {
  readonly path: string
  readonly mode?: SnapshotEntry['mode']
  readonly content: Uint8Array | string
  readonly id?: string
}

/** Packs files into a snapshot, hashing what has no id; its id is the tree SHA that git would give. */
export function packSnapshot(files: readonly SnapshotFile[]): TreeSnapshot {
  const contents = files.map(file => (typeof file.content === 'string' ? Buffer.from(file.content) : file.content))
  const total = contents.reduce((sum, content) => sum + content.length, 0)
  const bytes = new Uint8Array(new SharedArrayBuffer(total))
  let offset = 0
  const entries = files.map((file, index): SnapshotEntry => {
    const content = contents[index]!
    bytes.set(content, offset)
    const id = file.id ?? objectId('blob', content)
    const entry = { path: file.path, mode: file.mode ?? '100644', id, offset, length: content.length }
    offset += content.length
    return entry
  })
  return { id: directoriesOf(entries).get('')!.id, entries, bytes }
}

/** Opens a snapshot for reading. Throws `git-missing` from `read` for a path that is not a file or symlink. */
export function openSnapshot(snapshot: TreeSnapshot): Tree {
  const directories = directoriesOf(snapshot.entries)
  const byPath = new Map(snapshot.entries.map(entry => [entry.path, entry]))
  const treeEntries = new Map([...directories.values()].flatMap(d => d.entries.map(entry => [entry.path, entry])))
  const root = directories.get('')!
  treeEntries.set('', { name: '', path: '', type: 'directory', id: root.id })
  return {
    id: root.id,
    entry: path => treeEntries.get(path),
    list: path => directories.get(path)?.entries ?? [],
    read: path => {
      const entry = byPath.get(path)
      if (!entry || entry.mode === '160000')
        throw new BailiwickError('git-missing', `${JSON.stringify(path)}: no such file`)
      return snapshot.bytes.subarray(entry.offset, entry.offset + entry.length)
    },
  }
}

/** The directories that a flat list of entries makes, by path ('' is the root), each with the id that git gives it. */
export interface Directory {
  readonly path: string
  readonly id: string
  readonly entries: readonly TreeEntry[]
}

const TYPES = { '100644': 'file', '100755': 'file', '120000': 'symlink', '160000': 'submodule' } as const

/** Builds the directory tree of `entries` and hashes it as git does, so that ids equal those of a real repository. */
export function directoriesOf(entries: readonly SnapshotEntry[]): Map<string, Directory> {
  const children = new Map<string, { entry: TreeEntry; mode: string }[]>([['', []]])
  for (const entry of entries) {
    const directory = ensureDirectory(children, parentOf(entry.path))
    directory.push({
      entry: { name: nameOf(entry.path), path: entry.path, type: TYPES[entry.mode], id: entry.id },
      mode: entry.mode,
    })
  }
  const directories = new Map<string, Directory>()
  const deepestFirst = [...children.keys()].sort((a, b) => depth(b) - depth(a))
  for (const path of deepestFirst) {
    const list = children.get(path)!
    const id = treeId(list)
    directories.set(path, { path, id, entries: list.map(child => child.entry).sort(byName) })
    if (path === '') continue
    const entry: TreeEntry = { name: nameOf(path), path, type: 'directory', id }
    children.get(parentOf(path))!.push({ entry, mode: '40000' })
  }
  return directories
}

function ensureDirectory(children: Map<string, { entry: TreeEntry; mode: string }[]>, path: string) {
  const existing = children.get(path)
  if (existing) return existing
  const created: { entry: TreeEntry; mode: string }[] = []
  children.set(path, created)
  if (path !== '') ensureDirectory(children, parentOf(path))
  return created
}

function treeId(list: readonly { entry: TreeEntry; mode: string }[]): string {
  // git sorts a directory as if its name ended in '/'
  const key = (child: { entry: TreeEntry }) =>
    Buffer.from(child.entry.type === 'directory' ? `${child.entry.name}/` : child.entry.name)
  const sorted = [...list].sort((a, b) => Buffer.compare(key(a), key(b)))
  const parts = sorted.flatMap(child => [
    Buffer.from(`${child.mode} ${child.entry.name}\0`),
    Buffer.from(child.entry.id, 'hex'),
  ])
  return objectId('tree', Buffer.concat(parts))
}

const depth = (path: string) => (path === '' ? 0 : path.split('/').length)

/** A file, symlink or submodule of a tree, without its content. */
export type ListedEntry = Pick<SnapshotEntry, 'path' | 'mode' | 'id'>

/** Git id of the tree that a flat listing makes. */
export function treeIdOf(entries: readonly ListedEntry[]): string {
  return directoriesOf(entries.map(entry => ({ ...entry, offset: 0, length: 0 }))).get('')!.id
}

/** The entries as stored text: one JSON array per line, sorted as they came. */
export function printListing(entries: readonly ListedEntry[]): string {
  return entries.map(({ mode, id, path }) => `${JSON.stringify([mode, id, path])}\n`).join('')
}

/** The reverse of printListing; undefined for text that is none (a torn or edited file). */
export function parseListing(text: string): ListedEntry[] | undefined {
  try {
    return text.split('\n').slice(0, -1).map(parseLine)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof BailiwickError) return undefined
    throw error
  }
}

function parseLine(line: string): ListedEntry {
  const value: unknown = JSON.parse(line)
  if (!Array.isArray(value)) throw new BailiwickError('git-corrupt', 'a stored tree has a line that is not an array')
  const [mode, id, path] = value as unknown[]
  if (!isMode(mode) || typeof id !== 'string' || typeof path !== 'string') {
    throw new BailiwickError('git-corrupt', 'a stored tree has an entry without mode, id and path')
  }
  return { mode, id, path }
}

/** Whether `mode` is one that a snapshot can hold (directories follow from the paths). */
export function isMode(mode: unknown): mode is SnapshotEntry['mode'] {
  return mode === '100644' || mode === '100755' || mode === '120000' || mode === '160000'
}

/** Git object id (SHA-1, 40 hex digits) of content as a blob, tree, commit or tag. */
export function objectId(type: 'blob' | 'tree' | 'commit' | 'tag', content: Uint8Array): string {
  const header = `${type} ${content.length}\0`
  if (content.length > ROOM.length - 100) return createHash('sha1').update(header).update(content).digest('hex')
  const start = ROOM.write(header, 'latin1')
  ROOM.set(content, start)
  return hash('sha1', ROOM.subarray(0, start + content.length))
}

/** A buffer for each file, and a hash object for each small one, take longer than the hash. */
const ROOM = Buffer.alloc(64 * 1024)

/** The same bytes, not a copy of them. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)
