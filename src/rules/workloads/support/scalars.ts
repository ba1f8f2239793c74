import type { Node } from '../../../kube/node.ts'

/** Whether a field says nothing: null, '' or an empty list or map. */
export function isUnset(node: Node): boolean {
  if (node.type === 'list') return node.items.length === 0
  if (node.type === 'map') return node.fields.size === 0
  return node.value === null || node.value === ''
}

/** Whether a switch is off or not set; text that the API server would refuse counts as on. */
export function isOff(node: Node): boolean {
  return isUnset(node) || (node.type === 'scalar' && (node.value === false || node.value === 'false'))
}

/** Whether a number is zero, however it is written. */
export function isZero(node: Node): boolean {
  if (node.type !== 'scalar' || node.value === null || node.value === '' || typeof node.value === 'boolean')
    return false
  return Number(node.value) === 0
}

/** What a scalar says, as text; undefined for lists, maps and null. */
export function textOf(node: Node | undefined): string | undefined {
  return node?.type === 'scalar' && node.value !== null ? String(node.value) : undefined
}
