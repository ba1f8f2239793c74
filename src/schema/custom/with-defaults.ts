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
  for (const [key, inner] of schema.defaulted) {
    const field = node.fields.get(key)
    const value = field ? defaultedValue(field.value, inner) : inner.default && ofNode(inner.default, inner)
    if (value !== undefined && value !== field?.value)
      change().set(key, field ? { ...field, value } : { key: node.origin, value })
  }
  const { additional } = schema
  if (additional?.hasDefaults) {
    for (const [key, field] of node.fields) {
      if (schema.properties.has(key)) continue
      const value = defaultedValue(field.value, additional)
      if (value !== field.value) change().set(key, { ...field, value })
    }
  }
  return fields ? { ...node, fields } : node
}

const defaultedValue = (value: Node, schema: CustomSchema): Node =>
  ofNode(isNull(value) && !schema.isNullable ? (schema.default ?? value) : value, schema)

const isNull = (node: Node): boolean => node.type === 'scalar' && node.value === null
