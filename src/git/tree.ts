import { BailiwickError } from '../errors.ts'

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

export interface SnapshotEntry {
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

/** The bytes of a file for whoever looks through all files; undefined for one that is larger than what is read at all. */
export function readUnlessLarge(tree: Tree, path: string): Uint8Array | undefined {
  try {
    return tree.read(path)
  } catch (error) {
    if (error instanceof BailiwickError && error.code === 'render-limits') return undefined
    throw error
  }
}
