import type { Tree } from '../git/tree.ts'

export function packTree(tree: Tree, _ignore?: string): Tree {
  return tree
}
