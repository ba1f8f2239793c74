import { BailiwickError } from '../../errors.ts'
import type { Field, MapNode, Node, ScalarNode } from '../../kube/node.ts'

/**
 * `after` with every write to a shared value also at the other places of that value. A label that kustomize adds to
 * several places of an object is one and the same value there (kyaml's FieldSetter appends the node that it was given),
 * so whoever sets one of them later sets all. Throws `kustomize-unsupported` where such a value becomes a map or a list.
 */
export function settleShared(before: MapNode, after: MapNode): MapNode {
  const written = new Map<object, ScalarNode>()
  const marked = mark(before, after, written)
  return (written.size === 0 ? marked : mapScalars(marked, node => share(node, written))) as MapNode
}

/** The same object with no value shared: what has been written to JSON and read back. */
export function withoutShared<T extends Node>(node: T): T {
  return mapScalars(node, ({ shared: _, ...rest }) => rest) as T
}

function mark(before: Node | undefined, after: Node, written: Map<object, ScalarNode>): Node {
  if (before === after || before === undefined) return after
  if (before.type === 'scalar') return before.shared ? markScalar(before, before.shared, after, written) : after
  if (before.type === 'map' && after.type === 'map') {
    return mapFields(after, (key, value) => mark(before.fields.get(key)?.value, value, written))
  }
  if (before.type !== 'list' || after.type !== 'list') return after
  return mapItems(after, (item, index) => mark(before.items[index], item, written))
}

function markScalar(before: ScalarNode, shared: object, after: Node, written: Map<object, ScalarNode>): Node {
  if (after.type !== 'scalar') {
    const message =
      'a label or annotation that kustomize shares between several fields is changed in one of them, which is not supported'
    throw new BailiwickError('kustomize-unsupported', message, { origin: after.origin })
  }
  const marked = { ...after, shared }
  if (after.value !== before.value || after.text !== before.text) written.set(shared, marked)
  return marked
}

function share(node: ScalarNode, written: ReadonlyMap<object, ScalarNode>): ScalarNode {
  return (node.shared && written.get(node.shared)) ?? node
}

function mapScalars(node: Node, edit: (node: ScalarNode) => ScalarNode): Node {
  if (node.type === 'scalar') return node.shared ? edit(node) : node
  if (node.type === 'list') return mapItems(node, item => mapScalars(item, edit))
  return mapFields(node, (_, value) => mapScalars(value, edit))
}

function mapItems(list: Node & { type: 'list' }, edit: (item: Node, index: number) => Node): Node {
  const items = list.items.map(edit)
  return items.some((item, index) => item !== list.items[index]) ? { ...list, items } : list
}

function mapFields(map: MapNode, edit: (key: string, value: Node) => Node): MapNode {
  let fields: Map<string, Field> | undefined
  for (const [key, field] of map.fields) {
    const value = edit(key, field.value)
    if (value === field.value) continue
    fields ??= new Map(map.fields)
    fields.set(key, { ...field, value })
  }
  return fields ? { ...map, fields } : map
}
