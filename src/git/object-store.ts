import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BailiwickError, isGone, unlessGone } from '../base/errors.ts'
import { DiskLimit } from './disk-limit.ts'
import { checkPaths, checkSize, LOCAL_LIMITS, type TreeLimits } from './entry-limits.ts'
import {
  directoriesOf,
  type ListedEntry,
  objectId,
  parseListing,
  printListing,
  type Tree,
  type TreeEntry,
  type TreeSnapshot,
  treeIdOf,
} from './tree.ts'

const ID = /^[0-9a-f]{40}$/

/**
 * Git objects by their id: a folder on disk, the most recent ones in memory. What is read is always what the id says:
 * a file that a crash or a person changed is dropped and counts as absent. Any number of processes may share the folder.
 */
export class ObjectStore {
  readonly #dir: string
  readonly #blobs: MemoryCache<Uint8Array>
  readonly #snapshots: MemoryCache<TreeSnapshot>
  readonly #disk: DiskLimit | undefined

  /** `diskBytes`: files that were used least recently are deleted beyond it; absent: none are. */
  constructor(
    dir: string,
    memoryBytes: number = 128 * 1024 * 1024,
    { diskBytes }: { readonly diskBytes?: number } = {},
  ) {
    this.#dir = dir
    this.#disk = diskBytes === undefined ? undefined : new DiskLimit(dir, diskBytes)
    this.#blobs = new MemoryCache(memoryBytes / 2)
    this.#snapshots = new MemoryCache(memoryBytes / 2)
  }

  /** The one in the cache of a process. */
  static on({ cacheDir, cacheMb }: { readonly cacheDir: string; readonly cacheMb: number }): ObjectStore {
    return new ObjectStore(join(cacheDir, 'objects'), undefined, { diskBytes: cacheMb * 1024 * 1024 })
  }

  /** Content of a blob, or undefined where the store has none that matches its id. */
  async readBlob(id: string): Promise<Uint8Array | undefined> {
    const cached = this.#blobs.get(id)
    if (cached) return cached
    const file = this.#fileOf('blobs', id)
    const content = await unlessGone(readFile(file))
    if (!content) return undefined
    if (objectId('blob', content) !== id) {
      await rm(file, { force: true })
      return undefined
    }
    this.#blobs.set(id, content, content.length)
    return content
  }

  /** Stores a blob. Throws `git-corrupt` when the content is not what the id says. */
  async writeBlob(id: string, content: Uint8Array): Promise<void> {
    const actual = objectId('blob', content)
    if (actual !== id) throw new BailiwickError('git-corrupt', `blob ${id}: its content has the id ${actual}`)
    // a small view may keep a large buffer alive: remember a copy of just these bytes
    this.#blobs.set(id, Uint8Array.prototype.slice.call(content), content.length)
    await this.#write(this.#fileOf('blobs', id), content)
  }

  /** Flat listing of a tree, or undefined where the store has none that hashes to its id. */
  async readListing(treeId: string): Promise<readonly ListedEntry[] | undefined> {
    const file = this.#fileOf('trees', treeId)
    const content = await unlessGone(readFile(file))
    if (!content) return undefined
    const entries = parseListing(content.toString())
    if (entries && treeIdOf(entries) === treeId) return entries
    await rm(file, { force: true })
    return undefined
  }

  /** Stores the flat listing of a tree. Throws `git-corrupt` when it does not hash to the id. */
  async writeListing(treeId: string, entries: readonly ListedEntry[]): Promise<void> {
    const actual = treeIdOf(entries)
    if (actual !== treeId) throw new BailiwickError('git-corrupt', `tree ${treeId}: its listing has the id ${actual}`)
    await this.#write(this.#fileOf('trees', treeId), printListing(entries))
  }

  /** Tree id of a commit as it was remembered, or undefined. `repository` keeps one repository's answers from another's. */
  async readCommitTree(repository: string, commit: string): Promise<string | undefined> {
    const text = (await unlessGone(readFile(this.#commitFile(repository, commit))))?.toString() ?? ''
    const [tree, sum] = text.split(' ')
    return tree && ID.test(tree) && sum === objectId('blob', Buffer.from(`${commit} ${tree}`)) ? tree : undefined
  }

  /** Remembers the tree of a commit; a commit never changes. */
  async writeCommitTree(repository: string, commit: string, tree: string): Promise<void> {
    const sum = objectId('blob', Buffer.from(`${commit} ${tree}`))
    await this.#write(this.#commitFile(repository, commit), `${tree} ${sum}`)
  }

  /** A whole tree that this process put together lately. */
  recentSnapshot(treeId: string): TreeSnapshot | undefined {
    return this.#snapshots.get(treeId)
  }

  /** Keeps a whole tree in memory for the next reader. */
  keepSnapshot(snapshot: TreeSnapshot): void {
    this.#snapshots.set(snapshot.id, snapshot, snapshot.bytes.length + snapshot.entries.length * 200)
  }

  async #write(file: string, content: Uint8Array | string): Promise<void> {
    await writeAtomically(file, content)
    await this.#disk?.wrote(content.length)
  }

  #commitFile(repository: string, commit: string): string {
    return join(this.#fileOf('commits', commit), objectId('blob', Buffer.from(repository.toLowerCase())))
  }

  #fileOf(kind: 'blobs' | 'trees' | 'commits', id: string): string {
    if (!ID.test(id)) throw new BailiwickError('git-corrupt', `${JSON.stringify(id.slice(0, 80))}: not a git object id`)
    return join(this.#dir, kind, id.slice(0, 2), id.slice(2))
  }
}

/** A reader in another process sees the whole file or none. */
async function writeAtomically(file: string, content: Uint8Array | string): Promise<void> {
  const draft = `${file}.${process.pid}.${randomUUID()}.tmp`
  try {
    await writeFile(draft, content, { flag: 'wx' }).catch(async error => {
      if (!isGone(error)) throw error
      await mkdir(dirname(file), { recursive: true })
      await writeFile(draft, content, { flag: 'wx' })
    })
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** Contents that are kept; what was forgotten is read again. */
const MEMORY_BYTES = 128 * 1024 * 1024

/**
 * A tree whose ids are known and whose contents are read when they are asked for, so that its size does not matter. Throws
 * `git-ambiguous` for names that git would not check out, `render-limits` for too many files; `read` throws what `load` does.
 */
export function lazyTree(
  what: string,
  entries: readonly ListedEntry[],
  load: (entry: ListedEntry) => Uint8Array,
  limits: TreeLimits = LOCAL_LIMITS,
): Tree {
  checkSize(what, entries.length, 0, limits)
  checkPaths(what, entries)
  const directories = directoriesOf(entries.map(entry => ({ ...entry, offset: 0, length: 0 })))
  const files = new Map(entries.map(entry => [entry.path, entry]))
  const root: TreeEntry = { name: '', path: '', type: 'directory', id: directories.get('')!.id }
  const all = new Map<string, TreeEntry>([['', root]])
  for (const directory of directories.values()) for (const entry of directory.entries) all.set(entry.path, entry)
  const contents = new MemoryCache<Uint8Array>(MEMORY_BYTES)
  return {
    id: root.id,
    entry: path => all.get(path),
    list: path => directories.get(path)?.entries ?? [],
    read: path => {
      const known = contents.get(path)
      if (known) return known
      const file = files.get(path)
      if (!file || file.mode === '160000')
        throw new BailiwickError('git-missing', `${JSON.stringify(path)}: no such file`)
      const content = load(file)
      contents.set(path, content, content.length + 200)
      return content
    },
  }
}

/** Values by key, the least recently used are forgotten first when their bytes exceed `maxBytes`. */
export class MemoryCache<V> {
  readonly #values = new Map<string, { readonly value: V; readonly bytes: number }>()
  /** All before it are gone: one iterator for good, because each new one steps over what was deleted. */
  readonly #oldest = this.#values.entries()
  readonly #maxBytes: number
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: string): V | undefined {
    const found = this.#values.get(key)
    if (!found) return undefined
    this.#values.delete(key)
    this.#values.set(key, found)
    return found.value
  }

  set(key: string, value: V, bytes: number): void {
    if (bytes > this.#maxBytes) return
    this.delete(key)
    this.#values.set(key, { value, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#maxBytes) {
      const [oldest] = this.#oldest.next().value!
      this.delete(oldest)
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#values.get(key)?.bytes ?? 0
    this.#values.delete(key)
  }
}
