import type { MapNode } from '../../kube/node.ts'
import { isSet, valueIn } from './read-field.ts'

/** Whether a field of a schema says something; `false` and empty lists, maps and texts do not. */
export function isFilled(schema: MapNode, name: string): boolean {
  const value = valueIn(schema, name)
  if (value === undefined || !isSet(schema, name)) return false
  if (value.type === 'map') return name === 'default' || name === 'additionalProperties' || value.fields.size > 0
  return value.type === 'list'
    ? value.items.length > 0 || name === 'default'
    : value.value !== false || name === 'default'
}

export const isTrue = (schema: MapNode | undefined, name: string): boolean => {
  const value = valueIn(schema, name)
  return value?.type === 'scalar' && value.value === true
}
