import type { Node } from '../../kube/node.ts'

/** How a value is written, in words; never the value itself, which may be secret. */
export function writtenAs(node: Node): string {
  if (node.type === 'map') return 'a map'
  if (node.type === 'list') return 'a list'
  if (node.value === null) return 'null'
  if (typeof node.value === 'bigint') return 'a number'
  return typeof node.value === 'string' ? 'a string' : `a ${typeof node.value}`
}
