import { objectId } from './object-id.ts'
import type { SnapshotEntry, TreeEntry } from './tree.ts'

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

const byName = (a: TreeEntry, b: TreeEntry) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name))
const depth = (path: string) => (path === '' ? 0 : path.split('/').length)
const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)
