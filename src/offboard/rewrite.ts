import { withElement, withField } from '../kube/edit-node.ts'
import type { MapNode, Node, Path } from '../kube/node.ts'
import type { Origin } from '../origin.ts'

/** A text of an object that a change replaces, with its place in the file. */
export interface ReplacedText {
  readonly origin: Origin
  readonly from: string
  readonly to: string
}

/** Returns the new text for a path of an object; undefined: no change. `parent`: the innermost map around it. */
export type Choose = (text: string, path: Path, parent: MapNode) => string | undefined

export interface Rewritten {
  readonly root: MapNode
  readonly texts: readonly ReplacedText[]
}

/** An object with some of its texts replaced, and these texts. */
export function rewrite(root: MapNode, choose: Choose): Rewritten {
  const texts: ReplacedText[] = []
  const visit = (node: Node, path: Path, parent: MapNode): Node => {
    if (node.type === 'scalar') {
      const to = typeof node.value === 'string' ? choose(node.value, path, parent) : undefined
      if (to === undefined || to === node.value) return node
      texts.push({ origin: node.origin, from: String(node.value), to })
      return { type: 'scalar', value: to, origin: node.origin }
    }
    if (node.type === 'list') {
      let list = node
      for (const [index, item] of node.items.entries()) {
        const now = visit(item, [...path, index], parent)
        if (now !== item) list = withElement(list, index, now)
      }
      return list
    }
    let map = node
    for (const [key, { value }] of node.fields) {
      const now = visit(value, [...path, key], node)
      if (now !== value) map = withField(map, key, now)
    }
    return map
  }
  return { root: visit(root, [], root) as MapNode, texts }
}
