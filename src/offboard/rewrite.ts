import { withElement, withField } from '../kube/edit-node.ts'
import type { MapNode, Node, Path } from '../kube/node.ts'
import type { Origin } from '../origin.ts'

/** A text of an object that a change replaces, where it is written. */
export interface ReplacedText {
  readonly origin: Origin
  readonly from: string
  readonly to: string
}

/** The new text at a place of an object; undefined: it stays. `parent`: the innermost map around it. */
export type Choose = (text: string, path: Path, parent: MapNode) => string | undefined

export interface Rewritten {
  readonly root: MapNode
  readonly texts: readonly ReplacedText[]
}

/** An object as it is after a change of some of its texts, and those texts. */
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
