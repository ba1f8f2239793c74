import type { CustomSchema } from './custom-schema.ts'
import { ANYTHING, schemaOf } from './custom-schema.ts'
import { escapeName } from './escape-name.ts'
import { isExposed } from './is-exposed.ts'

type Scalar = 'bool' | 'bytes' | 'double' | 'duration' | 'int' | 'null' | 'string' | 'timestamp' | 'type' | 'uint'

/** What a CEL expression of a rule is for the compiler of the API server; `dyn`: anything, or not known here. */
export type RuleType =
  | { readonly is: Scalar | 'dyn' }
  | { readonly is: 'list' | 'optional'; readonly of: RuleType }
  | { readonly is: 'map'; readonly key: RuleType; readonly of: RuleType }
  | { readonly is: 'object'; readonly schema: CustomSchema; readonly isRoot: boolean }

export const DYN: RuleType = { is: 'dyn' }
export const BOOL: RuleType = { is: 'bool' }
export const INT: RuleType = { is: 'int' }
export const TEXT: RuleType = { is: 'string' }

/** Rules can read only these fields of an object's metadata. */
const METADATA = schemaOf({
  type: 'object',
  properties: { name: { type: 'string' }, generateName: { type: 'string' } },
})

const FORMATS: Readonly<Record<string, RuleType>> = {
  byte: { is: 'bytes' },
  duration: { is: 'duration' },
  date: { is: 'timestamp' },
  'date-time': { is: 'timestamp' },
}

/** The type of the values of a schema (k8s.io/apiserver, pkg/cel/common, SchemaDeclType). */
export function ruleTypeOf(schema: CustomSchema, isRoot = schema.isEmbedded): RuleType {
  if (schema.isIntOrString) return DYN
  switch (schema.type) {
    case 'string':
      return Object.hasOwn(FORMATS, schema.format) ? FORMATS[schema.format]! : TEXT
    case 'boolean':
      return BOOL
    case 'integer':
      return INT
    case 'number':
      return { is: 'double' }
    case 'array':
      return { is: 'list', of: schema.items ? ruleTypeOf(schema.items) : DYN }
    case 'object': {
      const { additional } = schema
      if (!additional || additional === ANYTHING || !isExposed(additional)) return { is: 'object', schema, isRoot }
      return { is: 'map', key: TEXT, of: ruleTypeOf(additional) }
    }
    default:
      return DYN
  }
}

/** The type of a field of an object as CEL names it; undefined where rules cannot read such a field. */
export function fieldType({ schema, isRoot }: RuleType & { is: 'object' }, name: string): RuleType | undefined {
  if (isRoot && (name === 'apiVersion' || name === 'kind')) return TEXT
  if (isRoot && name === 'metadata') return { is: 'object', schema: METADATA, isRoot: false }
  const named = schema.properties.get(name)
  if (named && isExposed(named)) return ruleTypeOf(named)
  for (const [key, inner] of schema.properties)
    if (escapeName(key) === name && isExposed(inner)) return ruleTypeOf(inner)
  return undefined
}

/** Whether values of both types may be the same for the compiler. */
export function mayEqual(left: RuleType, right: RuleType): boolean {
  if (left.is === 'dyn' || right.is === 'dyn') return true
  if (left.is === 'null' || right.is === 'null') return !isPlain(left.is === 'null' ? right : left)
  if (left.is === 'map' && right.is === 'map') return mayEqual(left.key, right.key) && mayEqual(left.of, right.of)
  if (left.is === 'object' || right.is === 'object') return !isPlain(left) && !isPlain(right)
  if ('of' in left && 'of' in right) return left.is === right.is && mayEqual(left.of, right.of)
  return left.is === right.is
}

const PLAIN: ReadonlySet<RuleType['is']> = new Set(['bool', 'bytes', 'double', 'int', 'string', 'uint'])
const isPlain = ({ is }: RuleType): boolean => PLAIN.has(is)

/** A type in words. */
export const nameOf = (type: RuleType): string => {
  switch (type.is) {
    case 'list':
      return `list(${nameOf(type.of)})`
    case 'optional':
      return `optional(${nameOf(type.of)})`
    case 'map':
      return `map(${nameOf(type.key)}, ${nameOf(type.of)})`
    default:
      return type.is
  }
}
