import type { ListNode, MapNode, Node, Path } from '../../kube/node.ts'
import { isUnknown } from '../model/is-unknown.ts'
import type { Problem } from '../model/problem.ts'

/** Reports problems of an object type beyond the types of its fields. */
export type TypeCheck = (node: MapNode, path: Path, add: (problem: Problem) => void) => void

/** The value of a field; undefined if absent or null. */
export function valueIn(node: MapNode | undefined, name: string): Node | undefined {
  const value = node?.fields.get(name)?.value
  return value?.type === 'scalar' && value.value === null ? undefined : value
}

/** The text of a field; undefined if only the cluster knows it. */
export function textIn(node: MapNode | undefined, name: string): string | undefined {
  const value = valueIn(node, name)
  return value?.type === 'scalar' && typeof value.value === 'string' && !isUnknown(value) ? value.value : undefined
}

/** The number of a field; undefined if only the cluster knows it. */
export function numberIn(node: MapNode | undefined, name: string): number | undefined {
  const value = valueIn(node, name)
  if (value?.type !== 'scalar' || isUnknown(value)) return undefined
  return typeof value.value === 'number' || typeof value.value === 'bigint' ? Number(value.value) : undefined
}

export function mapIn(node: MapNode | undefined, name: string): MapNode | undefined {
  const value = valueIn(node, name)
  return value?.type === 'map' ? value : undefined
}

const NO_ITEMS: ListNode['items'] = []
const NO_MAPS: readonly (readonly [number, MapNode])[] = []

export function itemsIn(node: MapNode | undefined, name: string): readonly Node[] {
  const value = valueIn(node, name)
  return value?.type === 'list' ? value.items : NO_ITEMS
}

/** The items of a list that are maps, with their index. */
export function mapsIn(node: MapNode | undefined, name: string): readonly (readonly [index: number, item: MapNode])[] {
  const items = itemsIn(node, name)
  if (items.length === 0) return NO_MAPS
  const maps: [number, MapNode][] = []
  for (let index = 0; index < items.length; index++) {
    const item = items[index]!
    if (item.type === 'map') maps.push([index, item])
  }
  return maps
}

/** Whether a field is set; null and empty text count as absent. */
export function isSet(node: MapNode | undefined, name: string): boolean {
  const value = valueIn(node, name)
  return value !== undefined && !(value.type === 'scalar' && value.value === '' && !value.opaque)
}

/** Whether only the cluster knows the value of a field. */
export function isHidden(node: MapNode, name: string): boolean {
  const value = node.fields.get(name)?.value
  return value !== undefined && isUnknown(value)
}

export const badValue = (path: Path, allowed: string, found = 'another value'): Problem => ({
  kind: 'bad-format',
  path,
  allowed,
  found,
})

export const missingField = (path: Path, allowed = 'a value'): Problem => ({
  kind: 'missing-field',
  path,
  allowed,
  found: 'nothing',
})

export const wrongWord = (path: Path, names: readonly string[]): Problem => ({
  kind: 'not-allowed',
  path,
  allowed: names.join(', '),
  found: 'another word',
  names,
})

/** The problem of a field that another field excludes. */
export const forbiddenField = (path: Path, allowed: string): Problem => ({
  kind: 'forbidden-field',
  path,
  allowed,
  found: 'a value',
})
