import { isAbsent, textNode, withField } from '../kube/edit-node.ts'
import { at, type Field, type MapNode } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import { specText, type TextNode, wrongType } from './root/spec-fields.ts'

const PARTS = ['labels', 'annotations']

/**
 * Objects with `spec.commonMetadata` in them, which wins over what they say themselves. Labels or annotations that are not
 * all texts or null give way to it as a whole; null is the empty text (fluxcd/pkg ssa, SetCommonMetadata, and where Flux
 * sets its own labels). Throws `flux-invalid`.
 */
export function overrideMetadata(objects: readonly KubeObject[], kustomization: MapNode): readonly KubeObject[] {
  const common = PARTS.map(part => [part, readPairs(kustomization, part)] as const)
  return objects.map(object => {
    const root = common.reduce((before, [part, pairs]) => withPairs(before, part, pairs), object.root)
    return root === object.root ? object : { ...object, root }
  })
}

function readPairs(kustomization: MapNode, part: string): ReadonlyMap<string, Field> {
  const path = ['spec', 'commonMetadata', part]
  const parent = at(kustomization, path.slice(0, 2))
  if (parent === undefined) return new Map()
  if (parent.type !== 'map') return wrongType(kustomization, path.slice(0, 2), 'an object')
  const map = at(parent, [part])
  if (map === undefined) return new Map()
  if (map.type !== 'map') return wrongType(kustomization, path, 'an object')
  const fields = new Map<string, Field>()
  for (const [key, field] of map.fields) {
    const { value, origin }: TextNode = specText(kustomization, [...path, key])!
    const opaque = field.value.type === 'scalar' && field.value.opaque ? { opaque: field.value.opaque } : {}
    fields.set(key, { ...field, value: { ...textNode(value, origin), ...opaque } })
  }
  return fields
}

function withPairs(root: MapNode, part: string, pairs: ReadonlyMap<string, Field>): MapNode {
  const metadata = at(root, ['metadata'])
  if (metadata?.type !== 'map') return root
  const own = at(metadata, [part])
  const isKept = own?.type === 'map' && [...own.fields.values()].every(({ value }) => isText(value))
  const hasNull = isKept && [...own.fields.values()].some(({ value }) => isAbsent(value))
  if (pairs.size === 0 && !hasNull) return root
  const kept = isKept ? [...own.fields].map(([key, field]): [string, Field] => [key, withoutNull(field)]) : []
  const fields = new Map([...kept, ...pairs])
  const origin = isAbsent(own) ? [...pairs.values()][0]!.value.origin : own.origin
  return withField(root, 'metadata', withField(metadata, part, { type: 'map', fields, origin }))
}

const isText = (node: Field['value']): boolean =>
  isAbsent(node) || (node.type === 'scalar' && typeof node.value === 'string')

const withoutNull = (field: Field): Field =>
  isAbsent(field.value) ? { ...field, value: textNode('', field.value.origin) } : field
