import type { MapNode, Path } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import { writtenAs } from '../model/written-as.ts'
import { isFilled, isTrue } from './is-filled.ts'
import { badValue, forbiddenField, isHidden, mapIn, missingField, textIn, valueIn, wrongWord } from './read-field.ts'
import { checkLists } from './structural-lists.ts'
import { checkLogic, checkPattern } from './structural-logic.ts'

type Add = (problem: Problem) => void
type Steps = (string | number)[]
/** Where a schema stands in the one around it. */
export type SchemaLevel = 'root' | 'field' | 'item'
/** Compares a schema inside of another one. */
type Below = (schema: MapNode, path: Steps, level: SchemaLevel, add: Add) => void

export const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const NOT_SUPPORTED = '$ref $schema additionalItems definitions dependencies id patternProperties'.split(' ')
const INT_OR_STRING = 'x-kubernetes-int-or-string'
const OPEN = 'x-kubernetes-preserve-unknown-fields'
const EMBEDDED = 'x-kubernetes-embedded-resource'
/** The only fields of an object's metadata that a schema may restrict. */
const METADATA = ['name', 'generateName']

/**
 * Whether a schema of a CustomResourceDefinition is structural (k8s.io/apiextensions-apiserver, pkg/apiserver/schema,
 * ValidateStructural, and pkg/apis/apiextensions/validation, ValidateCustomResourceDefinitionOpenAPISchema).
 */
export function checkStructural(schema: MapNode, path: Path, add: Add): void {
  walk(schema, [...path], 'root', add)
}

/** Keywords of schemas below the first one that no rule here is about. */
export const FREE: ReadonlySet<string> = new Set(
  'description required format enum default nullable title example minimum maximum minLength maxLength minItems maxItems'.split(
    ' ',
  ),
)

/** These, and keywords that are checked in every schema. */
const PLAIN: ReadonlySet<string> = new Set([...FREE, 'type', 'properties', 'items', 'pattern'])

/** `path` serves all schemas below, because most have no problem. */
function walk(schema: MapNode, path: Steps, level: SchemaLevel, add: Add): void {
  checkSchema(schema, path, level, add, walk)
}

/** Whether one schema is structural, whatever those below it are: a schema is found to be so without its path, too. */
export function checkOneSchema(schema: MapNode, level: SchemaLevel, add: Add): void {
  checkSchema(schema, [], level, add, () => {})
}

function checkSchema(schema: MapNode, path: Steps, level: SchemaLevel, add: Add, below: Below): void {
  let isPlain = level !== 'root'
  for (const key of schema.fields.keys()) if (!PLAIN.has(key)) isPlain = false
  checkType(schema, path, level, add)
  const properties = mapIn(schema, 'properties')
  for (const [name, { value }] of properties?.fields ?? []) {
    path.push('properties', name)
    if (value.type === 'map') below(value, path, 'field', add)
    // null is an empty schema
    else if (value.type === 'scalar' && value.value === null) add(missingField([...path, 'type'], TYPES.join(', ')))
    path.length -= 2
  }
  checkItems(schema, path, add, below)
  checkPattern(schema, path, add)
  if (!isPlain) checkRest(schema, properties, path, level, add, below)
}

function checkRest(
  schema: MapNode,
  properties: MapNode | undefined,
  path: Steps,
  level: SchemaLevel,
  add: Add,
  below: Below,
): void {
  for (const name of NOT_SUPPORTED)
    if (isFilled(schema, name)) add(forbiddenField([...path, name], 'a schema without this field'))
  if (isTrue(schema, 'uniqueItems'))
    add(forbiddenField([...path, 'uniqueItems'], 'x-kubernetes-list-type: set in place of this field'))
  const isEmbedded = isTrue(schema, EMBEDDED)
  const extra = valueIn(schema, 'additionalProperties')
  if (extra && properties && properties.fields.size > 0)
    add(forbiddenField([...path, 'additionalProperties'], 'properties or additionalProperties'))
  else if (isFilled(schema, 'additionalProperties') && (level === 'root' || isEmbedded))
    add(forbiddenField([...path, 'additionalProperties'], 'properties in place of this field'))
  if (extra?.type === 'map') {
    path.push('additionalProperties')
    below(extra, path, 'field', add)
    path.pop()
  }
  if (level === 'root' && isTrue(schema, 'nullable'))
    add(forbiddenField([...path, 'nullable'], 'false for the whole object'))
  checkOpen(schema, properties, path, add)
  if (level === 'root' || isEmbedded) checkObjectFields(properties, path, level, add)
  checkLists(schema, path, add)
  checkLogic(schema, path, add)
}

/** What the markers for open, embedded and mixed values ask of each other. */
function checkOpen(schema: MapNode, properties: MapNode | undefined, path: Path, add: Add): void {
  const open = valueIn(schema, OPEN)
  if (open?.type === 'scalar' && open.value === false) add(badValue([...path, OPEN], 'true, or no such field', 'false'))
  if (isTrue(schema, INT_OR_STRING) && isTrue(schema, OPEN))
    add(forbiddenField([...path, OPEN], `this field where ${INT_OR_STRING} is not true`))
  if (isTrue(schema, INT_OR_STRING) && isTrue(schema, EMBEDDED))
    add(forbiddenField([...path, EMBEDDED], `this field where ${INT_OR_STRING} is not true`))
  const isHollow = (properties === undefined || properties.fields.size === 0) && !isHidden(schema, 'properties')
  if (isTrue(schema, EMBEDDED) && isHollow && open === undefined && !isHidden(schema, OPEN))
    add(missingField([...path, 'properties'], `fields, or ${OPEN}: true, because ${EMBEDDED} is true`))
}

function checkType(schema: MapNode, path: Path, level: SchemaLevel, add: Add): void {
  const value = valueIn(schema, 'type')
  if (value?.type === 'scalar' && TYPES.includes(String(value.value)) && level !== 'root') {
    if (value.value !== 'object' && isTrue(schema, EMBEDDED)) add(wrongWord([...path, 'type'], ['object']))
    return
  }
  if (isHidden(schema, 'type')) return
  const [type, here] = [textIn(schema, 'type') ?? '', [...path, 'type']]
  const isEither = isTrue(schema, INT_OR_STRING)
  // the types of Kubernetes do not reach into the schema of items
  if (value !== undefined && !(value.type === 'scalar' && typeof value.value === 'string')) {
    if (path.includes('items') || path.includes('additionalProperties'))
      add({ kind: 'wrong-type', path: here, allowed: 'a string, in quotes', found: writtenAs(value) })
  } else if (type !== '' && !TYPES.includes(type)) add(wrongWord(here, TYPES))
  else if (isTrue(schema, EMBEDDED) && type !== 'object') add(missingField(here, `object, because ${EMBEDDED} is true`))
  else if (type === '' && !isEither && !isTrue(schema, OPEN)) add(missingField(here, TYPES.join(', ')))
  else if (level === 'root' && type !== '' && type !== 'object') add(wrongWord(here, ['object']))
}

/** The fields that every object has cannot be of other types. */
function checkObjectFields(properties: MapNode | undefined, path: Path, level: SchemaLevel, add: Add): void {
  for (const [name, wanted] of [
    ['metadata', 'object'],
    ['apiVersion', 'string'],
    ['kind', 'string'],
  ] as const) {
    const own = mapIn(properties, name)
    if (own === undefined) continue
    const [type, here] = [textIn(own, 'type') ?? '', [...path, 'properties', name]]
    if (type === '' && isTrue(own, OPEN))
      add(missingField([...here, 'type'], `${wanted}, which every object has there`))
    if (TYPES.includes(type) && type !== wanted) add(wrongWord([...here, 'type'], [wanted]))
    if (level === 'root' && name !== 'metadata' && isFilled(own, 'default'))
      add(forbiddenField([...here, 'default'], 'defaults of other fields'))
  }
  if (level === 'root') checkMetadata(mapIn(properties, 'metadata'), [...path, 'properties', 'metadata'], add)
}

/** Of an object's metadata a schema may only restrict the name. */
function checkMetadata(metadata: MapNode | undefined, path: Path, add: Add): void {
  for (const key of metadata?.fields.keys() ?? [])
    if (key !== 'type' && key !== 'properties' && isFilled(metadata!, key))
      add(forbiddenField([...path, key], 'type and properties'))
  for (const [name, { value }] of mapIn(metadata, 'properties')?.fields ?? []) {
    const here = [...path, 'properties', name]
    if (!METADATA.includes(name)) add(forbiddenField(here, METADATA.join(' and ')))
    else if (value.type === 'map' && isFilled(value, 'default'))
      add(forbiddenField([...here, 'default'], 'defaults of other fields'))
  }
}

function checkItems(schema: MapNode, path: Steps, add: Add, below: Below): void {
  const items = valueIn(schema, 'items')
  const here = () => [...path, 'items']
  if (items?.type === 'map') {
    path.push('items')
    below(items, path, 'item', add)
    path.pop()
  } else if (items?.type === 'list') add(forbiddenField(here(), 'one schema for all items'))
  else if (items?.type === 'scalar' && !items.opaque)
    add({ kind: 'wrong-type', path: here(), allowed: 'a map', found: writtenAs(items) })
  else if (items === undefined && textIn(schema, 'type') === 'array')
    add(missingField(here(), 'a schema for the items'))
}
