import type { Json, Node } from '../../kube/node.ts'
import { jsonNode } from './json-node.ts'

/** A rule of `x-kubernetes-validations`. */
export interface CustomRule {
  readonly rule: string
  readonly message: string
  readonly messageExpression: string
  /** As written, such as `.spec.size`. */
  readonly fieldPath: string
  readonly isOldOptional: boolean
}

/** One level of a structural schema (apiextensions.k8s.io/v1, JSONSchemaProps); what is below it is read when it is asked for. */
export interface CustomSchema {
  readonly type: string
  readonly isNullable: boolean
  readonly isIntOrString: boolean
  readonly isEmbedded: boolean
  /** Unknown fields stay. */
  readonly isOpen: boolean
  readonly properties: ReadonlyMap<string, Json>
  readonly additional: Json | undefined
  readonly items: Json | undefined
  readonly required: readonly string[]
  readonly default: Node | undefined
  /** Some field at this level or below has a default. */
  readonly hasDefaults: boolean
  readonly words: readonly Json[] | undefined
  readonly format: string
  readonly pattern: string
  /** Numbers that bound a value, a length or a count, by the name of the keyword. */
  readonly bounds: ReadonlyMap<string, number>
  readonly isUnique: boolean
  readonly all: readonly Json[]
  readonly any: readonly Json[]
  readonly one: readonly Json[]
  readonly not: Json | undefined
  /** As `FieldType.keys`. */
  readonly keys: readonly string[] | '='
  readonly rules: readonly CustomRule[]
  /** Whether a field at this level or below has a rule; like the API server, ignores rules under `allOf`. */
  readonly hasRules: boolean
}

const BOUNDS = [
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const

type JsonMap = { readonly [key: string]: Json }

const read = new WeakMap<object, CustomSchema>()
const EMPTY: JsonMap = {}

/** The schema that JSON of a CustomResourceDefinition says; the same one for the same JSON. */
export function schemaOf(json: Json | undefined): CustomSchema {
  const from = mapOf(json)
  const known = read.get(from)
  if (known) return known
  const schema = readSchema(from)
  read.set(from, schema)
  return schema
}

function readSchema(from: JsonMap): CustomSchema {
  const get = (key: string): Json | undefined => (Object.hasOwn(from, key) ? from[key] : undefined)
  const bounds = BOUNDS.flatMap(key => {
    const value = get(key)
    return typeof value === 'number' ? [[key as string, value] as const] : []
  })
  for (const key of ['exclusiveMinimum', 'exclusiveMaximum']) if (get(key) === true) bounds.push([key, 1])
  const listType = get('x-kubernetes-list-type')
  const properties = new Map(Object.entries(mapOf(get('properties'))))
  const additional = get('additionalProperties')
  const value = get('default')
  const below = [...properties.values(), additional, get('items')]
  return {
    type: textOf(get('type')),
    isNullable: get('nullable') === true,
    isIntOrString: get('x-kubernetes-int-or-string') === true,
    isEmbedded: get('x-kubernetes-embedded-resource') === true,
    isOpen: get('x-kubernetes-preserve-unknown-fields') === true,
    properties,
    additional: additional === false || additional === null ? undefined : additional,
    items: get('items'),
    required: listOf(get('required')).map(textOf),
    default: value === undefined ? undefined : jsonNode(value),
    hasDefaults: value !== undefined || below.some(one => typeof one === 'object' && schemaOf(one).hasDefaults),
    words: Array.isArray(get('enum')) ? listOf(get('enum')) : undefined,
    format: textOf(get('format')),
    pattern: textOf(get('pattern')),
    bounds: new Map(bounds),
    isUnique: get('uniqueItems') === true,
    all: listOf(get('allOf')),
    any: listOf(get('anyOf')),
    one: listOf(get('oneOf')),
    not: get('not'),
    keys: listType === 'set' ? '=' : listType === 'map' ? listOf(get('x-kubernetes-list-map-keys')).map(textOf) : [],
    rules: listOf(get('x-kubernetes-validations')).map(one => ({
      rule: textOf(mapOf(one).rule),
      message: textOf(mapOf(one).message),
      messageExpression: textOf(mapOf(one).messageExpression),
      fieldPath: textOf(mapOf(one).fieldPath),
      isOldOptional: mapOf(one).optionalOldSelf === true,
    })),
    hasRules:
      listOf(get('x-kubernetes-validations')).length > 0 ||
      below.some(one => typeof one === 'object' && schemaOf(one).hasRules),
  }
}

const mapOf = (json: Json | undefined): JsonMap =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? json : EMPTY
const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : [])
const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '')
