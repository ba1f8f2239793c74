import { itemsOf, type Node } from '../../kube/node.ts'

/** The `path` of each element. */
export const pathOfEach = (node: Node): readonly (Node | undefined)[] =>
  itemsOf(node).map(item => caseless(item, 'path'))

/** A field of what may be a map, in whatever letters; `name` in lower case. */
export function caseless(node: Node, name: string): Node | undefined {
  if (node.type !== 'map') return undefined
  for (const [key, { value }] of node.fields) if (key === name || key.toLowerCase() === name) return value
  return undefined
}
