import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { type Field, isNull, type Json, type MapNode, type Node } from '../../kube/node.ts'

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
  /** The JSON that it was read from. */
  readonly json: JsonMap
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

const EMPTY: JsonMap = {}

/** The schema in a CustomResourceDefinition's JSON; the same one for the same JSON. */
export const schemaOf = (json: Json | undefined): CustomSchema => read(mapOf(json))

const read = oncePer((from: JsonMap): CustomSchema => new JsonSchema(from))

/** Reads lower levels when first needed: few schemas of a definition have defaults or rules. */
class JsonSchema implements CustomSchema {
  readonly json: JsonMap
  readonly type: string
  readonly isNullable: boolean
  readonly isIntOrString: boolean
  readonly isEmbedded: boolean
  readonly isOpen: boolean
  readonly words: readonly Json[] | undefined
  readonly format: string
  readonly pattern: string
  readonly bounds: Bounds
  readonly isUnique: boolean
  readonly hasLogic: boolean
  readonly isBounded: boolean
  readonly isPlainText: boolean
  readonly required: readonly string[]
  readonly keys: readonly string[] | '='
  #properties: CustomSchema['properties'] | undefined
  #additional: CustomSchema | undefined
  #items: CustomSchema | undefined
  #default: Node | undefined
  #hasDefaults: boolean | undefined
  #defaulted: CustomSchema['defaulted'] | undefined
  #logic: Logic | undefined
  #rules: CustomSchema['rules'] | undefined
  #hasRules: boolean | undefined

  constructor(json: JsonMap) {
    this.json = json
    this.type = textOf(this.#get('type'))
    this.isNullable = this.#get('nullable') === true
    this.isIntOrString = this.#get('x-kubernetes-int-or-string') === true
    this.isEmbedded = this.#get('x-kubernetes-embedded-resource') === true
    this.isOpen = this.#get('x-kubernetes-preserve-unknown-fields') === true
    this.required = textsOf(this.#get('required'))
    const listType = this.#get('x-kubernetes-list-type')
    this.keys = listType === 'set' ? '=' : listType === 'map' ? textsOf(this.#get('x-kubernetes-list-map-keys')) : NONE
    const [words, bounds] = [this.#get('enum'), boundsOf(json)]
    this.words = Array.isArray(words) ? words : undefined
    this.format = textOf(this.#get('format'))
    this.pattern = textOf(this.#get('pattern'))
    this.bounds = bounds ?? UNBOUNDED
    this.isUnique = this.#get('uniqueItems') === true
    this.hasLogic =
      ['allOf', 'anyOf', 'oneOf'].some(key => listOf(this.#get(key)).length > 0) || this.#get('not') !== undefined
    this.isBounded =
      this.words !== undefined || bounds !== undefined || this.isUnique || this.format !== '' || this.pattern !== ''
    this.isPlainText = this.type === 'string' && !this.isBounded && !this.hasLogic
  }

  get properties(): CustomSchema['properties'] {
    if (this.#properties === undefined) {
      const fields = Object.entries(mapOf(this.#get('properties')))
      this.#properties = new Map(fields.map(([key, json]) => [key, levelOf(json)]))
    }
    return this.#properties
  }

  get additional(): CustomSchema | undefined {
    const extra = this.#get('additionalProperties')
    if (extra === false || extra === null || extra === undefined) return undefined
    this.#additional ??= levelOf(extra)
    return this.#additional
  }

  get items(): CustomSchema | undefined {
    const items = this.#get('items')
    if (items !== undefined) this.#items ??= levelOf(items)
    return this.#items
  }

  get not(): CustomSchema | undefined {
    return this.#parts().not
  }

  get default(): Node | undefined {
    const value = this.#get('default')
    if (this.#default === undefined && value !== undefined) this.#default = jsonNode(value)
    return this.#default
  }

  get hasDefaults(): boolean {
    this.#hasDefaults ??= this.#get('default') !== undefined || this.#inner().some(one => one?.hasDefaults)
    return this.#hasDefaults
  }

  get defaulted(): CustomSchema['defaulted'] {
    this.#defaulted ??= [...this.properties].filter(([, schema]) => schema.hasDefaults)
    return this.#defaulted
  }

  get all(): readonly CustomSchema[] {
    return this.#parts().all
  }

  get any(): readonly CustomSchema[] {
    return this.#parts().any
  }

  get one(): readonly CustomSchema[] {
    return this.#parts().one
  }

  get rules(): readonly CustomRule[] {
    this.#rules ??= listOf(this.#get('x-kubernetes-validations')).map(ruleOf)
    return this.#rules
  }

  get hasRules(): boolean {
    this.#hasRules ??= this.rules.length > 0 || this.#inner().some(one => one?.hasRules)
    return this.#hasRules
  }

  #get(key: string): Json | undefined {
    return Object.hasOwn(this.json, key) ? this.json[key] : undefined
  }

  #inner(): readonly (CustomSchema | undefined)[] {
    return [...this.properties.values(), this.additional, this.items]
  }

  #parts(): Logic {
    if (this.hasLogic) this.#logic ??= this.#readLogic()
    return this.#logic ?? NO_LOGIC
  }

  #readLogic(): Logic {
    const [listed, not] = [(key: string) => listOf(this.#get(key)).map(levelOf), this.#get('not')]
    const lists = { all: listed('allOf'), any: listed('anyOf'), one: listed('oneOf') }
    return { ...lists, not: not === undefined ? undefined : levelOf(not) }
  }
}

type Logic = Pick<CustomSchema, 'all' | 'any' | 'one' | 'not'>

const NONE: readonly string[] = []
const NO_LOGIC: Logic = { all: [], any: [], one: [], not: undefined }

const UNBOUNDED: Bounds = { isMoreThan: false, isLessThan: false }

function boundsOf(json: JsonMap): Bounds | undefined {
  const get = (key: string) => (Object.hasOwn(json, key) ? json[key] : undefined)
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
const textsOf = (json: Json | undefined): readonly string[] => (Array.isArray(json) ? json.map(textOf) : NONE)
const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '')

/** A schema within another, which remembers it. */
const levelOf = (json: Json): CustomSchema => {
  const from = mapOf(json)
  return from === EMPTY ? ANYTHING : new JsonSchema(from)
}

/** A value of a schema stands in no file of an object. */
const NOWHERE: Origin = { repository: '', file: '', line: 1, column: 1 }

/** The schema that allows every value, which also stands for one that is not a map. */
export const ANYTHING: CustomSchema = schemaOf(undefined)

/**
 * An object as the API server validates it: with the defaults of its schema, which take the place of nulls, too
 * (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/defaulting). The same node where nothing changes.
 */
export const withDefaults = (root: MapNode, schema: CustomSchema): MapNode =>
  schema.hasDefaults ? ofMap(root, schema) : root

function ofNode(node: Node, schema: CustomSchema): Node {
  if (node.type === 'map') return ofMap(node, schema)
  const inner = schema.items
  if (node.type === 'scalar' || !inner?.hasDefaults) return node
  const items = node.items.map(item => ofNode(item, inner))
  return items.some((item, index) => item !== node.items[index]) ? { ...node, items } : node
}

function ofMap(node: MapNode, schema: CustomSchema): MapNode {
  let fields: Map<string, Field> | undefined
  const change = () => (fields ??= new Map(node.fields))
  for (const [key, inner] of schema.defaulted) {
    const field = node.fields.get(key)
    const value = field ? defaultedValue(field.value, inner) : inner.default && ofNode(inner.default, inner)
    if (value !== undefined && value !== field?.value)
      change().set(key, field ? { ...field, value } : { key: node.origin, value })
  }
  const { additional } = schema
  if (additional?.hasDefaults) {
    for (const [key, field] of node.fields) {
      if (schema.properties.has(key)) continue
      const value = defaultedValue(field.value, additional)
      if (value !== field.value) change().set(key, { ...field, value })
    }
  }
  return fields ? { ...node, fields } : node
}

const defaultedValue = (value: Node, schema: CustomSchema): Node =>
  ofNode(isNull(value) && !schema.isNullable ? (schema.default ?? value) : value, schema)

/** JSON as nodes. */
export function jsonNode(value: Json): Node {
  if (Array.isArray(value)) return { type: 'list', items: value.map(jsonNode), origin: NOWHERE }
  if (typeof value !== 'object' || value === null) return { type: 'scalar', value, origin: NOWHERE }
  const fields = new Map<string, Field>()
  for (const [key, item] of Object.entries(value)) fields.set(key, { key: NOWHERE, value: jsonNode(item) })
  return { type: 'map', fields, origin: NOWHERE }
}
