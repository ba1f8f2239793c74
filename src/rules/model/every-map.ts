import type { MapNode, Node, Path } from '../../kube/node.ts'

/** A map somewhere in an object. */
interface PlacedMap {
  readonly path: Path
  readonly node: MapNode
}

/** Every map below a node, the node itself first where it is one: custom kinds keep what they hold wherever they like. */
export function* everyMap(root: Node): Iterable<PlacedMap> {
  const open: { readonly path: Path; readonly node: Node }[] = [{ path: [], node: root }]
  for (let here = open.pop(); here; here = open.pop()) {
    const { path, node } = here
    if (node.type === 'list') {
      for (const [index, item] of node.items.entries()) {
        if (item.type !== 'scalar') open.push({ path: [...path, index], node: item })
      }
    }
    if (node.type !== 'map') continue
    yield { path, node }
    for (const [key, { value }] of node.fields) {
      if (value.type !== 'scalar') open.push({ path: [...path, key], node: value })
    }
  }
}
