import type { Field, MapNode, Node } from '../../kube/node.ts'
import type { CustomSchema } from './custom-schema.ts'

/**
 * An object as the API server validates it: with the defaults of its schema, which take the place of nulls, too
 * (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting). The same node where nothing changes.
 */
export const withDefaults = (root: MapNode, schema: CustomSchema): MapNode =>
  schema.hasDefaults ? ofMap(root, schema) : root

function ofNode(node: Node, schema: CustomSchema): Node {
  if (node.type === 'map') return ofMap(node, schema)
  const inner = schema.items
  if (node.type === 'scalar' || !inner?.hasDefaults) return node
  const items = node.items.map(item => ofNode(item, inner))
  return items.some((item, index) => item !== node.items[index]) ? { ...node, items } : node
}

function ofMap(node: MapNode, schema: CustomSchema): MapNode {
  let fields: Map<string, Field> | undefined
  const change = () => (fields ??= new Map(node.fields))
  for (const [key, field] of node.fields) {
    const inner = schema.properties.get(key) ?? schema.additional
    if (inner === undefined || !inner.hasDefaults) continue
    if (isNull(field.value) && !inner.isNullable && inner.default !== undefined) {
      change().set(key, { ...field, value: ofNode(inner.default, inner) })
      continue
    }
    const value = ofNode(field.value, inner)
    if (value !== field.value) change().set(key, { ...field, value })
  }
  for (const [key, inner] of schema.properties) {
    if (inner.default !== undefined && !node.fields.has(key)) change().set(key, { key: node.origin, value: ofNode(inner.default, inner) })
  }
  return fields ? { ...node, fields } : node
}

const isNull = (node: Node): boolean => node.type === 'scalar' && node.value === null
