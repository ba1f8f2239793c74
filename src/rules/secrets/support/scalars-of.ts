import type { Node, Path, ScalarNode } from '../../../kube/node.ts'

/** A scalar of an object. */
interface PlacedScalar {
  readonly path: Path
  readonly node: ScalarNode
}

/** Every scalar below a node, with its path. */
export function* scalarsOf(root: Node, base: Path = []): Iterable<PlacedScalar> {
  const open: { readonly path: Path; readonly node: Node }[] = [{ path: base, node: root }]
  for (let here = open.pop(); here; here = open.pop()) {
    const { path, node } = here
    if (node.type === 'scalar') yield { path, node }
    else if (node.type === 'list')
      for (const [index, item] of node.items.entries()) open.push({ path: [...path, index], node: item })
    else for (const [key, { value }] of node.fields) open.push({ path: [...path, key], node: value })
  }
}
