import { readGoDuration, readTimestamp } from '../../cel/times.ts'
import { RESERVED } from '../../cel/tokens.ts'
import { AssociativeList, CelMap, type CelValue, fromJson, NotKnown, Time } from '../../cel/values.ts'
import { type ListNode, type MapNode, type Node, toJson } from '../../kube/node.ts'
import { isUnknown } from '../model/is-unknown.ts'
import { ANYTHING, type CustomSchema, schemaOf } from './custom-schema.ts'

const WORDS = new Set([...RESERVED, 'true', 'false', 'null', 'in'])
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** A field name as CEL rules write it; undefined if no rule can refer to it (k8s.io/apiserver pkg/cel/escaping.go). */
function escapeName(name: string): string | undefined {
  if (WORDS.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[./-]/g, part => ESCAPES[part]!)
}

/** No supported time format is longer. */
const MAX_TIME = 100
const FORMATS = new Set(['duration', 'date', 'date-time'])

type Entries = Map<string, readonly [CelValue, CelValue]>

/** Rules can read only these fields of an object's metadata. */
const METADATA = schemaOf({
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
})
const TEXT = schemaOf({ type: 'string' })

/**
 * A value as the rules of a schema see it (k8s.io/apiserver pkg/cel/common, UnstructuredToVal). Types come from the
 * schema. Rules cannot read undeclared fields, but comparisons include them. `isRoot`: the value is an object with
 * apiVersion, kind and metadata.
 */
export function typedValue(node: Node, schema: CustomSchema, isRoot = schema.isEmbedded): CelValue {
  if (isUnknown(node)) return new NotKnown('a value that is not known before it is applied')
  if (node.type === 'map') return schema.type === 'object' ? ofMap(node, schema, isRoot) : untyped(node)
  if (node.type === 'list')
    return schema.type === 'array' && schema.items !== undefined ? ofList(node, schema, schema.items) : untyped(node)
  const { value } = node
  if (typeof value === 'string') return schema.isIntOrString ? value : ofText(value, schema)
  if (value === null || typeof value === 'boolean') return value
  if (schema.type === 'number' && !schema.isIntOrString) return Number(value)
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value
}

function untyped(node: Node): CelValue {
  if (node.type === 'list') return node.items.map(untyped)
  if (node.type === 'scalar') return fromJson(toJson(node))
  return new CelMap(() => new Map([...node.fields].map(([key, { value }]) => [`s${key}`, [key, untyped(value)]])))
}

const ofMap = (node: MapNode, schema: CustomSchema, isRoot: boolean): CelMap =>
  new CelMap(() => entriesOf(node, schema, isRoot))

function entriesOf(node: MapNode, schema: CustomSchema, isRoot: boolean): Entries {
  const entries: Entries = new Map()
  const isStruct = isRoot || schema.properties.size > 0
  for (const [key, { value }] of node.fields) {
    const inner = isRoot ? rootField(key, schema) : fieldSchema(key, schema)
    const name = isStruct ? escapeName(key) : key
    const isAbsent = isStruct && value.type === 'scalar' && value.value === null
    // this key is no field name, so comparisons include the value but rules cannot read it
    if (inner === undefined || name === undefined || isAbsent) entries.set(`hidden ${key}`, [key, untyped(value)])
    else entries.set(`s${name}`, [name, typedValue(value, inner)])
  }
  return entries
}

function fieldSchema(key: string, { properties, additional }: CustomSchema): CustomSchema | undefined {
  const inner = properties.get(key) ?? (properties.size > 0 ? undefined : additional)
  return inner === ANYTHING ? undefined : inner
}

function rootField(key: string, schema: CustomSchema): CustomSchema | undefined {
  if (key === 'metadata') return METADATA
  return key === 'apiVersion' || key === 'kind' ? TEXT : fieldSchema(key, schema)
}

function ofList(node: ListNode, schema: CustomSchema, inner: CustomSchema): CelValue {
  const items = node.items.map(item => typedValue(item, inner))
  if (schema.keys === '=') return AssociativeList.with(items, undefined)
  if (schema.keys.length === 0) return items
  return AssociativeList.with(
    items,
    schema.keys.map(key => escapeName(key) ?? key),
  )
}

/** Texts of some formats become typed values. A text that this parser does not support is unknown, because the API server may parse it. */
function ofText(text: string, { type, format }: CustomSchema): CelValue {
  if (type !== 'string') return text
  if (format !== 'byte' && text.length > MAX_TIME && FORMATS.has(format)) return time('timestamp', undefined)
  if (format === 'duration') return time('duration', readGoDuration(text))
  if (format === 'date') return time('timestamp', readTimestamp(`${text}T00:00:00Z`))
  if (format === 'date-time') return time('timestamp', readTimestamp(text.toUpperCase()))
  return format === 'byte' ? Uint8Array.from(Buffer.from(text, 'base64')) : text
}

const time = (kind: 'timestamp' | 'duration', nanos: bigint | undefined): CelValue =>
  nanos === undefined ? new NotKnown(`a ${kind} in a form that is not supported`) : new Time(kind, nanos)
