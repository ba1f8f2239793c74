import { BailiwickError } from '../../errors.ts'
import { isAbsent } from '../../kube/edit-node.ts'
import type { Field, MapNode, Node, ScalarNode } from '../../kube/node.ts'
import { refuseCaseVariant } from '../fields/read-fields.ts'

/**
 * What a part of the config of a builtin decodes into. `string`: a text; `loose`: a text, into which numbers and booleans
 * are turned (sigs.k8s.io/yaml does so for strings that are not in an embedded struct); `any`: taken as it is, its texts
 * being texts for YAML 1.1, too.
 */
export type ConfigShape =
  | 'string'
  | 'loose'
  | 'any'
  | { readonly list: ConfigShape }
  | { readonly pairs: ConfigShape }
  | { readonly fields: Readonly<Record<string, ConfigShape>> }

/**
 * `node` as its struct sees it: fields that it does not have are gone, as kustomize passes over them. Throws rule
 * `kustomize-case-variant-key` for a field in another spelling.
 */
export function shaped(node: Node, shape: ConfigShape): Node {
  if (isAbsent(node)) return node
  if (shape === 'string' || shape === 'loose') return node.type === 'scalar' ? text(node, shape) : node
  if (shape === 'any') return withTexts(node)
  if (node.type === 'list') {
    const items = 'list' in shape ? node.items.map(item => shaped(item, shape.list)) : node.items
    return { ...node, items }
  }
  if (node.type !== 'map' || 'list' in shape) return node
  return 'pairs' in shape ? pairs(node, shape.pairs) : struct(node, shape.fields)
}

function pairs(map: MapNode, shape: ConfigShape): MapNode {
  const fields = new Map<string, Field>()
  for (const [key, field] of map.fields) fields.set(key, { ...field, value: shaped(field.value, shape) })
  return { ...map, fields }
}

function struct(map: MapNode, shapes: Readonly<Record<string, ConfigShape>>): MapNode {
  const known = Object.keys(shapes)
  const fields = new Map<string, Field>()
  for (const [key, field] of map.fields) {
    if (known.includes(key)) fields.set(key, { ...field, value: shaped(field.value, shapes[key]!) })
    else refuseCaseVariant(key, known, field.key)
  }
  return { ...map, fields }
}

function text(node: ScalarNode, shape: 'string' | 'loose'): ScalarNode {
  if (typeof node.value === 'string') return quoted(node)
  if (shape === 'string') return node
  const value = String(node.value)
  const isExact = typeof node.value !== 'number' || Number.isInteger(node.value) || isShortDecimal(value)
  if (isExact) return { type: 'scalar', value, origin: node.origin, quoted: true }
  const message = 'a number in a string field, which kustomize would round'
  throw new BailiwickError('kustomize-unsupported', message, { origin: node.origin, fix: 'Quote the number.' })
}

/** The same in single precision and for Go and us. */
function isShortDecimal(value: string): boolean {
  return /^-?\d{1,6}\.\d+$/.test(value) && value.replace(/\D/g, '').length <= 6 && !/^-?0\.0000/.test(value)
}

/** Resources are read with other rules than kustomizations: what is a text there stays one. */
function quoted(node: ScalarNode): ScalarNode {
  if (node.style) return node
  const { text: _, ...rest } = node
  return { ...rest, quoted: true }
}

function withTexts(node: Node): Node {
  if (node.type === 'list') return { ...node, items: node.items.map(withTexts) }
  if (node.type === 'map') return pairs(node, 'any')
  return typeof node.value === 'string' ? quoted(node) : node
}
