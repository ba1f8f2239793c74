import { openSnapshot, packSnapshot, type Tree } from '../../../src/git/tree.ts'

/** A tree of these files: content by path. */
export function treeOf(files: Readonly<Record<string, string>>): Tree {
  return openSnapshot(packSnapshot(Object.entries(files).map(([path, content]) => ({ path, content }))))
}
