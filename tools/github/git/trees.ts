import type { FileEntry, FileMode, Files, ObjectStore, TreeItem } from './store.ts'

/** All files of a tree by full path, in git's order. Throws for an id that is no tree. */
export function flatten(store: ObjectStore, tree: string): Map<string, FileEntry> {
  const files = new Map<string, FileEntry>()
  for (const { path, item } of walk(store, tree)) {
    if (item.mode !== '40000') files.set(path, { mode: item.mode, sha: item.sha })
  }
  return files
}

/** Every entry below a tree, directories before what they hold. Throws for an id that is no tree. */
export function* walk(store: ObjectStore, tree: string, prefix = ''): Generator<{ path: string; item: TreeItem }> {
  const items = store.tree(tree)
  if (!items) throw new Error(`no tree ${tree}`)
  for (const item of items) {
    const path = prefix + item.name
    yield { path, item }
    if (item.mode === '40000') yield* walk(store, item.sha, `${path}/`)
  }
}

/** The entry at `path`; '' is the tree itself. */
export function entryAt(store: ObjectStore, tree: string, path: string): Omit<TreeItem, 'name'> | undefined {
  let current: Omit<TreeItem, 'name'> | undefined = { mode: '40000', sha: tree }
  for (const name of path.split('/').filter(Boolean)) {
    if (current?.mode !== '40000') return undefined
    current = store.tree(current.sha)?.find(item => item.name === name)
  }
  return current
}

type Node = Map<string, Node | FileEntry>

/** Writes the trees that hold `files` and returns the id of the root. */
export function writeTree(store: ObjectStore, files: Files): string {
  const root: Node = new Map()
  for (const [path, entry] of files) {
    const names = path.split('/')
    const last = names.pop() ?? ''
    directory(root, names, path).set(last, entry)
  }
  return writeNode(store, root)
}

function directory(root: Node, names: readonly string[], path: string): Node {
  let node = root
  for (const name of names) {
    const next = node.get(name)
    if (next !== undefined && !(next instanceof Map)) throw new Error(`${path}: ${name} is a file already`)
    const child: Node = next ?? new Map()
    node.set(name, child)
    node = child
  }
  return node
}

function writeNode(store: ObjectStore, node: Node): string {
  const items = [...node].map(([name, child]): TreeItem => {
    if (child instanceof Map) return { name, mode: '40000', sha: writeNode(store, child) }
    return { name, ...child }
  })
  return writeItems(store, items)
}

/** Writes one tree, in the order that git demands: a directory sorts as if its name ended in '/'. */
function writeItems(store: ObjectStore, items: readonly TreeItem[]): string {
  const keyed = items.map(item => ({ item, key: Buffer.from(item.name + (item.mode === '40000' ? '/' : '')) }))
  keyed.sort((a, b) => Buffer.compare(a.key, b.key))
  const parts = keyed.flatMap(({ item }) => [Buffer.from(`${item.mode} ${item.name}\0`), Buffer.from(item.sha, 'hex')])
  return store.put('tree', Buffer.concat(parts))
}

/** What people hand over as a file: text or bytes, or one with a mode (an executable, a symlink's target). */
export type FileContent = string | Uint8Array | { readonly mode: FileMode; readonly content: string | Uint8Array }

/** Stores `content` as a blob; a submodule's content is the commit that it names. */
export function putFile(store: ObjectStore, file: FileContent): FileEntry {
  if (typeof file === 'string' || file instanceof Uint8Array) {
    return { mode: '100644', sha: store.put('blob', Buffer.from(file)) }
  }
  if (file.mode === '160000') return { mode: file.mode, sha: Buffer.from(file.content).toString() }
  return { mode: file.mode, sha: store.put('blob', Buffer.from(file.content)) }
}
