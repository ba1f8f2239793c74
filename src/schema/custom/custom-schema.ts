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

/** One level of a structural schema (apiextensions.k8s.io/v1, JSONSchemaProps). */
export interface CustomSchema {
  readonly type: string
  readonly isNullable: boolean
  readonly isIntOrString: boolean
  readonly isEmbedded: boolean
  /** Unknown fields stay. */
  readonly isOpen: boolean
  readonly properties: ReadonlyMap<string, CustomSchema>
  /** `ANYTHING` for `true`. */
  readonly additional: CustomSchema | undefined
  readonly items: CustomSchema | undefined
  readonly required: readonly string[]
  readonly default: Node | undefined
  /** Some field at this level or below has a default. */
  readonly hasDefaults: boolean
  /** The properties of which that is true. */
  readonly defaulted: readonly (readonly [name: string, schema: CustomSchema])[]
  readonly words: readonly Json[] | undefined
  readonly format: string
  readonly pattern: string
  /** Numbers that bound a value, a length or a count, by the name of the keyword. */
  readonly bounds: Bounds
  readonly isUnique: boolean
  readonly all: readonly CustomSchema[]
  readonly any: readonly CustomSchema[]
  readonly one: readonly CustomSchema[]
  readonly not: CustomSchema | undefined
  /** Whether it has any of these four. */
  readonly hasLogic: boolean
  /** Whether a schema at this level bounds the value alone: words, bounds, pattern or format. */
  readonly isBounded: boolean
  /** Every text is allowed. */
  readonly isPlainText: boolean
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

type Bounds = Readonly<Partial<Record<(typeof BOUNDS)[number], number>>> & {
  readonly isMoreThan: boolean
  readonly isLessThan: boolean
}

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
  const below = (key: string) => (get(key) === undefined ? undefined : schemaOf(get(key)))
  const listed = (key: string) => listOf(get(key)).map(schemaOf)
  const bounds = boundsOf(get)
  const listType = get('x-kubernetes-list-type')
  const properties = new Map(Object.entries(mapOf(get('properties'))).map(([key, json]) => [key, schemaOf(json)]))
  const extra = get('additionalProperties')
  const additional = extra === false || extra === null || extra === undefined ? undefined : schemaOf(extra)
  const items = below('items')
  const value = get('default')
  const inner = [...properties.values(), additional, items]
  const rules = listOf(get('x-kubernetes-validations')).map(ruleOf)
  const words = Array.isArray(get('enum')) ? listOf(get('enum')) : undefined
  const [format, pattern, isUnique] = [textOf(get('format')), textOf(get('pattern')), get('uniqueItems') === true]
  const [type, isIntOrString] = [textOf(get('type')), get('x-kubernetes-int-or-string') === true]
  const logic = { all: listed('allOf'), any: listed('anyOf'), one: listed('oneOf'), not: below('not') }
  const isBounded = words !== undefined || bounds !== undefined || isUnique || format !== '' || pattern !== ''
  const hasLogic = logic.all.length + logic.any.length + logic.one.length > 0 || logic.not !== undefined
  return {
    type,
    isNullable: get('nullable') === true,
    isIntOrString,
    isEmbedded: get('x-kubernetes-embedded-resource') === true,
    isOpen: get('x-kubernetes-preserve-unknown-fields') === true,
    properties,
    additional,
    items,
    required: listOf(get('required')).map(textOf),
    default: value === undefined ? undefined : jsonNode(value),
    hasDefaults: value !== undefined || inner.some(one => one?.hasDefaults),
    defaulted: [...properties].filter(([, schema]) => schema.hasDefaults),
    words,
    format,
    pattern,
    bounds: bounds ?? UNBOUNDED,
    isUnique,
    ...logic,
    hasLogic,
    isBounded,
    isPlainText: type === 'string' && !isBounded && !hasLogic,
    keys: listType === 'set' ? '=' : listType === 'map' ? listOf(get('x-kubernetes-list-map-keys')).map(textOf) : [],
    rules,
    hasRules: rules.length > 0 || inner.some(one => one?.hasRules),
  }
}

const UNBOUNDED: Bounds = { isMoreThan: false, isLessThan: false }

function boundsOf(get: (key: string) => Json | undefined): Bounds | undefined {
  const found = BOUNDS.flatMap(key => {
    const value = get(key)
    return typeof value === 'number' ? [[key, value] as const] : []
  })
  if (found.length === 0) return undefined
  const [isMoreThan, isLessThan] = [get('exclusiveMinimum') === true, get('exclusiveMaximum') === true]
  return { ...Object.fromEntries(found), isMoreThan, isLessThan }
}

const ruleOf = (json: Json): CustomRule => {
  const { rule, message, messageExpression, fieldPath, optionalOldSelf } = mapOf(json)
  return {
    rule: textOf(rule),
    message: textOf(message),
    messageExpression: textOf(messageExpression),
    fieldPath: textOf(fieldPath),
    isOldOptional: optionalOldSelf === true,
  }
}

const mapOf = (json: Json | undefined): JsonMap =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? json : EMPTY
const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : [])
const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '')

/** The schema that allows every value, which also stands for one that is not a map. */
export const ANYTHING: CustomSchema = schemaOf(undefined)
