import type { Field, MapNode, Node } from '../../kube/node.ts'
import { type CustomSchema, schemaOf } from './custom-schema.ts'

/**
 * An object as the API server validates it: with the defaults of its schema, which take the place of nulls, too
 * (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting). The same node where nothing changes.
 */
export const withDefaults = (root: MapNode, schema: CustomSchema): MapNode =>
  schema.hasDefaults ? ofMap(root, schema) : root

function ofNode(node: Node, schema: CustomSchema): Node {
  if (node.type === 'map') return ofMap(node, schema)
  if (node.type === 'scalar') return node
  const items = node.items.map(item => ofNode(item, schemaOf(schema.items)))
  return items.some((item, index) => item !== node.items[index]) ? { ...node, items } : node
}

function ofMap(node: MapNode, schema: CustomSchema): MapNode {
  let fields: Map<string, Field> | undefined
  const change = () => (fields ??= new Map(node.fields))
  for (const [key, field] of node.fields) {
    const json = schema.properties.get(key) ?? schema.additional
    if (json === undefined) continue
    const inner = schemaOf(json)
    if (isNull(field.value) && !inner.isNullable && inner.default !== undefined) {
      change().set(key, { ...field, value: ofNode(inner.default, inner) })
      continue
    }
    if (!inner.hasDefaults) continue
    const value = ofNode(field.value, inner)
    if (value !== field.value) change().set(key, { ...field, value })
  }
  for (const key of schema.properties.keys()) {
    if (node.fields.has(key)) continue
    const inner = schemaOf(schema.properties.get(key))
    if (inner.default !== undefined) change().set(key, { key: node.origin, value: ofNode(inner.default, inner) })
  }
  return fields ? { ...node, fields } : node
}

const isNull = (node: Node): boolean => node.type === 'scalar' && node.value === null
