import type { Field, Json, Node } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'

/** A value of a schema stands in no file of an object. */
const NOWHERE: Origin = { repository: '', file: '', line: 1, column: 1 }

/** JSON as nodes. */
export function jsonNode(value: Json): Node {
  if (Array.isArray(value)) return { type: 'list', items: value.map(jsonNode), origin: NOWHERE }
  if (typeof value !== 'object' || value === null) return { type: 'scalar', value, origin: NOWHERE }
  const fields = new Map<string, Field>()
  for (const [key, item] of Object.entries(value)) fields.set(key, { key: NOWHERE, value: jsonNode(item) })
  return { type: 'map', fields, origin: NOWHERE }
}
