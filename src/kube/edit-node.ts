import type { Origin, Step } from '../origin.ts'
import { at, type Field, type ListNode, type MapNode, type Node, type ScalarNode } from './node.ts'

/** A string written at `origin`. */
export function textNode(value: string, origin: Origin): ScalarNode {
  return { type: 'scalar', value, origin }
}

/** A map with these fields, each key standing at the map's own origin. */
export function mapNode(entries: Iterable<readonly [string, Node]>, origin: Origin): MapNode {
  const fields = new Map<string, Field>()
  for (const [key, value] of entries) fields.set(key, { key: origin, value })
  return { type: 'map', fields, origin }
}

/** `map` with `key` set to `value`, itself where that is so already; a key that is there keeps its place and, unless given, the origin of its key. */
export function withField(map: MapNode, key: string, value: Node, keyOrigin?: Origin): MapNode {
  const before = map.fields.get(key)
  const origin = keyOrigin ?? before?.key ?? value.origin
  if (before?.value === value && before.key === origin && !before.merged) return map
  const fields = new Map(map.fields)
  fields.set(key, fieldLike(before, origin, value))
  return { ...map, fields }
}

/** A field whose key is written as it was. */
export function fieldLike(before: { readonly quoted?: true } | undefined, key: Origin, value: Node): Field {
  return before?.quoted ? { key, value, quoted: true } : { key, value }
}

/** `map` without `key`; `by`: the line of a patch that removes it. */
export function withoutField(map: MapNode, key: string, by?: Origin): MapNode {
  if (!map.fields.has(key)) return map
  const fields = new Map(map.fields)
  fields.delete(key)
  return { ...map, fields, ...(by ? { removed: new Map(map.removed).set(key, by) } : {}) }
}

/** `root` with `value` at `path`; maps that are missing on the way are made, written where the value was. */
export function withValueAt(root: MapNode, path: readonly string[], value: Node): MapNode {
  const [key, ...rest] = path
  if (key === undefined) return root
  if (rest.length === 0) return withField(root, key, value)
  const child = at(root, [key])
  const map: MapNode = child?.type === 'map' ? child : { type: 'map', fields: new Map(), origin: value.origin }
  return withField(root, key, withValueAt(map, rest, value), child?.type === 'map' ? undefined : value.origin)
}

/** `list` with the element at `index` replaced. */
export function withElement(list: ListNode, index: number, value: Node): ListNode {
  return { ...list, items: list.items.map((item, i) => (i === index ? value : item)) }
}

/** The same node, every part of it saying that it came through `step` besides what it says already. */
export function through(node: Node, step: Step): Node {
  const origin = originThrough(node.origin, step)
  if (node.type === 'scalar') return { ...node, origin }
  if (node.type === 'list') return { ...node, origin, items: node.items.map(item => through(item, step)) }
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    fields.set(key, { ...field, key: originThrough(field.key, step), value: through(field.value, step) })
  }
  return { ...node, origin, fields }
}

function originThrough(origin: Origin, step: Step): Origin {
  return { ...origin, via: [...(origin.via ?? []), step] }
}

/** Text of a scalar as it was written; '' for null and for what is no scalar (the `Value` of a node in kyaml). */
export function writtenText(node: Node | undefined): string {
  if (node?.type !== 'scalar') return ''
  return node.text ?? String(node.value)
}

/** Whether there is nothing: no node, or null. */
export function isAbsent(node: Node | undefined): node is undefined | (ScalarNode & { readonly value: null }) {
  return node === undefined || (node.type === 'scalar' && node.value === null)
}

/** Whether a node is absent or an empty map or list. */
export function isEmpty(node: Node | undefined): boolean {
  if (isAbsent(node)) return true
  return (node.type === 'map' && node.fields.size === 0) || (node.type === 'list' && node.items.length === 0)
}
