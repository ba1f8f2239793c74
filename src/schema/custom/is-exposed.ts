import { ANYTHING, type CustomSchema } from './custom-schema.ts'

const SCALARS = new Set(['string', 'boolean', 'number', 'integer'])

/** Whether rules can read values of a schema; values without a type are hidden (k8s.io/apiserver pkg/cel/common, SchemaDeclType). */
export function isExposed(schema: CustomSchema): boolean {
  if (schema.isIntOrString || SCALARS.has(schema.type)) return true
  if (schema.type === 'array') return schema.items !== undefined && isExposed(schema.items)
  if (schema.type !== 'object') return false
  const { additional } = schema
  return additional === undefined || additional === ANYTHING || schema.properties.size > 0 || isExposed(additional)
}
