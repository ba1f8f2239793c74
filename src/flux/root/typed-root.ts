import { BailiwickError } from '../../errors.ts'
import { isAbsent, textNode } from '../../kube/edit-node.ts'
import type { Field, MapNode, Node, ScalarValue } from '../../kube/node.ts'
import { invalid, isTextInOldYaml, refuseCaseVariant } from '../../kustomize/fields/read-fields.ts'
import type { Origin } from '../../origin.ts'
import { type RootField, type RootType, rootFields } from './root-types.ts'

/**
 * A kustomization file as Flux writes it back: decoded leniently into kustomize's structs and encoded again (sigs.k8s.io
 * yaml): numbers and booleans of YAML 1.1 are texts where a text is asked for; what is empty is not written. Fields that the structs
 * do not have Flux drops without a word, where kustomize fails; nobody means that, so they are refused. Throws
 * `kustomize-invalid` for other types than asked for, `kustomize-unsupported`, and rule `kustomize-case-variant-key`.
 */
export function typedRoot(root: MapNode): MapNode {
  return struct(root, 'Kustomization', true, 'the kustomization')
}

function struct(node: MapNode, name: string, coerces: boolean, where: string): MapNode {
  const types = rootFields(name)
  const fields = new Map<string, Field>()
  for (const [key, field] of node.fields) {
    const type = types.get(key)
    if (!type) refuseUnknown(key, types, field.key, where)
    else if (!isAbsent(field.value)) {
      const value = convert(field.value, type.value, coerces && type.coerces, `${where}.${key}`)
      if (isWritten(value, type)) fields.set(key, { ...field, value })
    }
  }
  return { ...node, fields }
}

function refuseUnknown(key: string, types: ReadonlyMap<string, RootField>, origin: Origin, where: string): never {
  refuseCaseVariant(key, [...types.keys()], origin)
  const message = `${where}: unknown field ${JSON.stringify(key)}. kustomize fails on it, Flux ignores it`
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Remove or rename the field.' })
}

function convert(node: Node, type: RootType, coerces: boolean, where: string): Node {
  if (type.type === 'any') return node
  if (type.type === 'list') {
    if (node.type !== 'list') return invalid(`${where}: not a list`, node.origin)
    return { ...node, items: node.items.map(item => element(item, type.of, coerces, `${where}[]`)) }
  }
  if (type.type === 'map' || type.type === 'struct') {
    if (node.type !== 'map') return invalid(`${where}: not a map`, node.origin)
    if (type.type === 'struct') return struct(node, type.name, coerces, where)
    const fields = new Map<string, Field>()
    for (const [key, field] of node.fields) {
      fields.set(key, { ...field, value: element(field.value, type.of, coerces, `${where}.${key}`) })
    }
    return { ...node, fields }
  }
  return scalar(node, type.type, coerces, where)
}

/** A null among others is the zero value. */
function element(node: Node, type: RootType, coerces: boolean, where: string): Node {
  if (!isAbsent(node)) return convert(node, type, coerces, where)
  const { origin } = node
  if (type.type === 'string') return textNode('', origin)
  return type.type === 'struct' && !type.optional ? { type: 'map', fields: new Map(), origin } : node
}

function scalar(node: Node, type: 'string' | 'bool' | 'int', coerces: boolean, where: string): Node {
  if (node.type === 'scalar') {
    const { value, text, origin } = node
    if (type === 'bool' && typeof value === 'boolean') return node
    if (type === 'int' && (typeof value === 'bigint' || Number.isInteger(value))) return node
    const old = isTextInOldYaml(node) ? undefined : oldBoolean(value)
    if (type === 'bool' && old !== undefined) return { type: 'scalar', value: old, origin }
    if (type === 'string' && coerces && old !== undefined) return { ...textNode(String(old), origin), quoted: true }
    if (type === 'string' && typeof value === 'string') return node
    const isExact = text === undefined && (typeof value === 'boolean' || Number.isSafeInteger(value))
    if (type === 'string' && coerces && isExact) return { ...textNode(String(value), origin), quoted: true }
  }
  const wanted = { string: 'a quoted string', bool: 'true or false', int: 'a whole number' }
  return invalid(`${where}: wrong type. Allowed: ${wanted[type]}`, node.origin)
}

/** What YAML 1.1 reads in a plain `y` or `off`, which is a text for YAML 1.2. */
function oldBoolean(value: ScalarValue): boolean | undefined {
  return typeof value === 'string' ? /^(?:y|yes|on)$/i.test(value) : undefined
}

function isWritten(value: Node, { value: type, always }: RootField): boolean {
  if (always || type.type === 'any') return true
  if (value.type === 'list') return value.items.length > 0
  if (value.type === 'map') return type.type === 'struct' || value.fields.size > 0
  return value.value !== '' && value.value !== false && value.value !== 0
}
