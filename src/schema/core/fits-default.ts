import type { MapNode, Node } from '../../kube/node.ts'
import { isUnknown } from '../model/is-unknown.ts'
import { matchesText } from './matches-text.ts'

/** Keywords that say nothing of a default, which is compared without the defaults in it. */
const SILENT: ReadonlySet<string> = new Set(['description', 'title', 'example', 'default', 'nullable'])
const INT32 = 2 ** 31

/**
 * Whether a default certainly matches its schema as it is written; false says nothing. Most defaults are one word of a
 * schema of a few keywords: reading all that a schema says takes longer than comparing them. `defaultProblems` says what is
 * wrong.
 */
export function fitsDefault(value: Node, schema: MapNode): boolean {
  if (isUnknown(value) || !isOfType(value, schema)) return false
  for (const [key, field] of schema.fields)
    if (key !== 'type' && !SILENT.has(key) && !fitsKeyword(value, key, field.value)) return false
  return value.type === 'scalar' || arePartsFitting(value, schema)
}

function isOfType(value: Node, schema: MapNode): boolean {
  const type = schema.fields.get('type')?.value
  if (type?.type !== 'scalar') return false
  if (value.type === 'map') return type.value === 'object'
  if (value.type === 'list') return type.value === 'array'
  if (typeof value.value === 'string') return type.value === 'string'
  if (typeof value.value === 'boolean') return type.value === 'boolean'
  return type.value === 'integer' ? Number.isSafeInteger(value.value) : type.value === 'number' && isNumber(value)
}

const isNumber = (value: Node): boolean => value.type === 'scalar' && typeof value.value === 'number'

/** What one keyword says of a value; one that is not here says nothing for certain. */
function fitsKeyword(value: Node, key: string, says: Node): boolean {
  if (key === 'properties' || key === 'additionalProperties') return value.type === 'map' && says.type === 'map'
  if (key === 'items') return value.type === 'list' && says.type === 'map'
  if (key === 'required')
    return (
      value.type === 'map' &&
      says.type === 'list' &&
      says.items.every(one => one.type === 'scalar' && value.fields.has(String(one.value)))
    )
  if (value.type !== 'scalar') return false
  if (key === 'enum')
    return says.type === 'list' && says.items.some(one => one.type === 'scalar' && one.value === value.value)
  if (says.type !== 'scalar') return false
  if (key === 'pattern')
    return (
      typeof says.value === 'string' && typeof value.value === 'string' && matchesText(says.value, value.value) === true
    )
  if (typeof value.value !== 'number') return false
  if (key === 'format')
    return says.value === 'int64' || (says.value === 'int32' && -INT32 <= value.value && value.value < INT32)
  if (typeof says.value !== 'number') return false
  return key === 'minimum' ? says.value <= value.value : key === 'maximum' && value.value <= says.value
}

function arePartsFitting(value: Exclude<Node, { type: 'scalar' }>, schema: MapNode): boolean {
  if (value.type === 'list') {
    const items = schema.fields.get('items')?.value
    return items?.type === 'map' && value.items.every(item => fitsDefault(item, items))
  }
  const properties = schema.fields.get('properties')?.value
  const extra = schema.fields.get('additionalProperties')?.value
  for (const [key, field] of value.fields) {
    const inner = properties?.type === 'map' ? properties.fields.get(key)?.value : undefined
    const its = inner ?? extra
    if (its?.type !== 'map' || !fitsDefault(field.value, its)) return false
  }
  return true
}
