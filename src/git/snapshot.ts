import { BailiwickError } from '../errors.ts'
import { objectId } from './object-id.ts'
import type { SnapshotEntry, Tree, TreeSnapshot } from './tree.ts'
import { directoriesOf } from './tree-entries.ts'

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
