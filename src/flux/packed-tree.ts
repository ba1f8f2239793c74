import { BailiwickError } from '../errors.ts'
import type { Tree, TreeEntry } from '../git/tree.ts'
import { message, part } from '../message/message.ts'

/** The part of a tree that Flux puts into an artifact: `entries` by path, with '' for the root, and those of each directory. */
export function packedTree(
  tree: Tree,
  id: string,
  entries: ReadonlyMap<string, TreeEntry>,
  directories: ReadonlyMap<string, readonly TreeEntry[]>,
): Tree {
  return {
    id,
    entry: path => entries.get(path),
    list: path => directories.get(path) ?? [],
    ...(tree.place ? { place: path => tree.place?.(path) } : {}),
    left: path => {
      const type = tree.entry(path)?.type
      return type === 'symlink' || type === 'submodule' ? type : undefined
    },
    read: path => {
      if (entries.get(path)?.type === 'file') return tree.read(path)
      throw new BailiwickError(
        'git-missing',
        message`the artifact has no file ${part('path', path, JSON.stringify(path))}`,
      )
    },
  }
}
