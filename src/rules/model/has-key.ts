import type { Node } from '../../kube/node.ts'

/** Whether a map anywhere below a node has one of these keys; most objects have none, and this says so at little cost. */
export function hasKey(node: Node, keys: ReadonlySet<string>): boolean {
  if (node.type === 'scalar') return false
  if (node.type === 'list') return node.items.some(item => hasKey(item, keys))
  for (const [key, { value }] of node.fields) if (keys.has(key) || hasKey(value, keys)) return true
  return false
}
