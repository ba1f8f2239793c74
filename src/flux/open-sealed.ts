import { withoutField } from '../kube/edit-node.ts'
import { canonical, type Field, type MapNode, type Node, type ScalarNode, type ScalarValue } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { isSealedValue, sealedId, sealOf } from '../kube/sealed-values.ts'
import { throughText } from '../kustomize/resource/round-trip.ts'

/** Encrypted values in clear: by the text of what SOPS wrote beside them, then by their place and what is encrypted. Secret. */
export type OpenedValues = ReadonlyMap<string, ReadonlyMap<string, ScalarValue>>

/**
 * The objects of a build as kustomize-controller decrypts them before it substitutes variables: what `opened` says all
 * values of is in clear, where each value keeps its origin. One that is still encrypted is noted as such.
 */
export function openSealed(objects: readonly KubeObject[], opened: OpenedValues | undefined): readonly KubeObject[] {
  if (!objects.some(sealOf)) return objects
  return objects.map(object => {
    const block = sealOf(object)
    if (!block) return object
    const values = opened?.get(canonical(block))
    const root = values && inClear(withoutField(object.root, 'sops'), values, [])
    return root?.type === 'map' ? { ...object, root: throughText(root) } : { ...object, sealed: object.root }
  })
}

type Values = ReadonlyMap<string, ScalarValue>

/** Undefined: it holds a value that is not known. */
function inClear(node: Node, values: Values, path: readonly string[]): Node | undefined {
  if (node.type === 'scalar') return scalar(node, values, path)
  if (node.type === 'map') return map(node, values, path)
  const items: Node[] = []
  for (const item of node.items) {
    const value = inClear(item, values, path)
    if (!value) return undefined
    items.push(value)
  }
  return items.every((item, index) => item === node.items[index]) ? node : { ...node, items }
}

function map(node: MapNode, values: Values, path: readonly string[]): MapNode | undefined {
  const fields = new Map<string, Field>()
  let isChanged = false
  for (const [name, field] of node.fields) {
    const value = inClear(field.value, values, [...path, name])
    if (!value) return undefined
    isChanged ||= value !== field.value
    fields.set(name, value === field.value ? field : { ...field, value })
  }
  return isChanged ? { ...node, fields } : node
}

function scalar(node: ScalarNode, values: Values, path: readonly string[]): Node | undefined {
  if (typeof node.value !== 'string' || !isSealedValue(node.value)) return node
  const value = values.get(sealedId(path, node.value))
  if (value === undefined) return undefined
  const { origin } = node
  return { type: 'scalar', value, origin, ...(typeof value === 'string' ? { quoted: true } : {}) }
}
