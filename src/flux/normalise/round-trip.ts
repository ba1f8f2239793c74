import { isAbsent, textNode } from '../../kube/edit-node.ts'
import type { Field, ListNode, MapNode, Node, ScalarNode, ScalarValue } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { GoField, GoType } from './go-type.ts'
import { ownRoundTrip, ownZero } from './own-encoding.ts'

/**
 * A value after Go has decoded it into a type and encoded it again (runtime.DefaultUnstructuredConverter of
 * apimachinery): fields that the type does not have are gone, those that are always written are there. What does not
 * change stays the same node. Undefined where the value does not fit the type.
 */
export function goRoundTrip(node: Node, type: GoType): Node | undefined {
  if (isAbsent(node)) return zeroOf(type, node.origin)
  switch (type.type) {
    case 'string':
      return typeof scalarValue(node) === 'string' ? node : undefined
    case 'bool':
      return typeof scalarValue(node) === 'boolean' ? node : undefined
    case 'int32':
    case 'int64':
      return integer(node, type.type === 'int32' ? 32 : 64)
    case 'bytes':
      return base64(node)
    case 'pointer':
      return goRoundTrip(node, type.of)
    case 'list':
      return node.type === 'list' ? list(node, type.of) : undefined
    case 'map':
      return node.type === 'map' ? map(node, type.of) : undefined
    case 'struct':
      return node.type === 'map' ? struct(node, type.fields) : undefined
    case 'own':
      return ownRoundTrip(node, type.name)
  }
}

function scalarValue(node: Node): ScalarValue | undefined {
  return node.type === 'scalar' ? node.value : undefined
}

/** What Go writes for a value that nobody set. */
function zeroOf(type: GoType, origin: Origin): Node {
  const scalar = (value: ScalarValue): ScalarNode => ({ type: 'scalar', value, origin })
  switch (type.type) {
    case 'string':
      return scalar('')
    case 'bool':
      return scalar(false)
    case 'int32':
    case 'int64':
      return scalar(0)
    case 'struct':
      return struct({ type: 'map', fields: new Map(), origin }, type.fields)!
    case 'own':
      return scalar(ownZero(type.name))
    default:
      return scalar(null)
  }
}

/** Go cuts what does not fit into an integer, and takes a float that has no fraction. */
function integer(node: Node, bits: number): Node | undefined {
  const value = scalarValue(node)
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined
  if (typeof value === 'number' && !Number.isInteger(value)) return undefined
  const exact = BigInt(value)
  const cut = BigInt.asIntN(bits, exact)
  if (cut === exact) return node
  return { type: 'scalar', value: Number.isSafeInteger(Number(cut)) ? Number(cut) : cut, origin: node.origin }
}

/** Base64 as encoding/json reads it: line breaks are skipped, padding is required. */
function base64(node: Node): Node | undefined {
  if (node.type === 'list') return bytes(node)
  const value = scalarValue(node)
  if (typeof value !== 'string') return undefined
  const text = value.replace(/[\r\n]/g, '')
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  const written = Buffer.from(text, 'base64').toString('base64')
  if (written === value) return node
  const opaque = node.type === 'scalar' && node.opaque ? { opaque: node.opaque } : {}
  return { ...textNode(written, node.origin), ...opaque }
}

/** Go takes a list of numbers for bytes, too, and keeps the lowest eight bits of each. */
function bytes(node: ListNode): Node | undefined {
  const numbers = node.items.map(item => (isAbsent(item) ? 0 : scalarValue(item)))
  const whole = numbers.filter(number => typeof number === 'bigint' || Number.isInteger(number))
  if (whole.length < numbers.length) return undefined
  const lowest = whole.map(number => Number(BigInt.asUintN(8, BigInt(number as number | bigint))))
  return textNode(Buffer.from(lowest).toString('base64'), node.origin)
}

function list(node: ListNode, of: GoType): Node | undefined {
  let items: Node[] | undefined
  for (const [index, item] of node.items.entries()) {
    const value = goRoundTrip(item, of)
    if (!value) return undefined
    if (value === item) continue
    items ??= [...node.items]
    items[index] = value
  }
  return items ? { ...node, items } : node
}

function map(node: MapNode, of: GoType): Node | undefined {
  let fields: Map<string, Field> | undefined
  for (const [key, field] of node.fields) {
    const value = goRoundTrip(field.value, of)
    if (!value) return undefined
    if (value === field.value) continue
    fields ??= new Map(node.fields)
    fields.set(key, { ...field, value })
  }
  return fields ? { ...node, fields } : node
}

function struct(node: MapNode, types: ReadonlyMap<string, GoField>): MapNode | undefined {
  let fields: Map<string, Field> | undefined
  let dropped: Map<string, Field> | undefined
  for (const [key, field] of node.fields) {
    const type = types.get(key)
    if (!type) {
      dropped ??= new Map()
      dropped.set(key, field)
    }
    const value = type ? goRoundTrip(field.value, type.value) : field.value
    if (!value) return undefined
    const isGone = !type || isOmitted(value, type)
    if (!isGone && value === field.value) continue
    fields ??= new Map(node.fields)
    if (isGone) fields.delete(key)
    else fields.set(key, { ...field, value })
  }
  for (const [key, type] of alwaysWritten(types)) {
    if (node.fields.has(key)) continue
    fields ??= new Map(node.fields)
    fields.set(key, { key: node.origin, value: zeroOf(type.value, node.origin) })
  }
  if (dropped) return { ...node, fields: fields ?? node.fields, dropped }
  return fields ? { ...node, fields } : node
}

const written = new WeakMap<ReadonlyMap<string, GoField>, readonly (readonly [string, GoField])[]>()

/** The fields of a struct that are there even where nobody set them. */
function alwaysWritten(types: ReadonlyMap<string, GoField>): readonly (readonly [string, GoField])[] {
  const known = written.get(types)
  if (known) return known
  const found = [...types].filter(([, { value, omitEmpty, omitZero }]) => {
    return !omitZero && (!omitEmpty || value.type === 'struct' || value.type === 'own')
  })
  written.set(types, found)
  return found
}

/** `omitempty` leaves out zero scalars and empty lists, maps and pointers to nothing; a struct is never empty. */
function isOmitted(value: Node, { value: type, omitEmpty, omitZero }: GoField): boolean {
  const isNull = value.type === 'scalar' && value.value === null
  if (omitZero && isNull) return true
  if (!omitEmpty || type.type === 'struct' || type.type === 'own') return false
  if (isNull) return true
  if (type.type === 'pointer') return false
  if (value.type === 'list') return value.items.length === 0
  if (value.type === 'map') return value.fields.size === 0
  return value.value === '' || value.value === false || value.value === 0
}
