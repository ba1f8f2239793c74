import type { MapNode, Path } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import { writtenAs } from '../model/written-as.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  isSet,
  itemsIn,
  mapIn,
  missingField,
  textIn,
  valueIn,
  wrongWord,
} from './read-field.ts'

type Add = (problem: Problem) => void
type Steps = (string | number)[]
/** Where a schema stands in the one around it. */
type Level = 'root' | 'field' | 'item'

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const NOT_SUPPORTED = ['$ref', 'definitions', 'dependencies', 'id', 'patternProperties']
const INT_OR_STRING = 'x-kubernetes-int-or-string'
const OPEN = 'x-kubernetes-preserve-unknown-fields'
const EMBEDDED = 'x-kubernetes-embedded-resource'
const LIST_TYPE = 'x-kubernetes-list-type'
const LIST_KEYS = 'x-kubernetes-list-map-keys'
const LIST_TYPES = ['atomic', 'set', 'map']
const LOGIC = ['allOf', 'anyOf', 'oneOf'] as const
/** What a part of `allOf`, `anyOf`, `oneOf` and `not` must leave to the schema around it. */
const NOT_IN_LOGIC = ['description', 'default', 'additionalProperties', 'title', LIST_TYPE, LIST_KEYS, OPEN, EMBEDDED]
/** The only fields of an object's metadata that a schema may restrict. */
const METADATA = ['name', 'generateName']

/**
 * Whether a schema of a CustomResourceDefinition is structural (k8s.io/apiextensions-apiserver, pkg/apiserver/schema,
 * ValidateStructural, and pkg/apis/apiextensions/validation, ValidateCustomResourceDefinitionOpenAPISchema).
 */
export function checkStructural(schema: MapNode, path: Path, add: Add): void {
  walk(schema, [...path], 'root', add)
}

/** Keywords that no rule here is about, or that are checked in every schema. */
const PLAIN: ReadonlySet<string> = new Set(
  'type description properties items required format pattern enum default nullable title example minimum maximum minLength maxLength minItems maxItems'.split(
    ' ',
  ),
)

/** `path` serves all schemas below, because most have no problem. */
function walk(schema: MapNode, path: Steps, level: Level, add: Add): void {
  let isPlain = level !== 'root'
  for (const key of schema.fields.keys()) if (!PLAIN.has(key)) isPlain = false
  checkType(schema, path, level, add)
  const properties = mapIn(schema, 'properties')
  for (const [name, { value }] of properties?.fields ?? []) {
    path.push('properties', name)
    if (value.type === 'map') walk(value, path, 'field', add)
    // null is an empty schema
    else if (value.type === 'scalar' && value.value === null) add(missingField([...path, 'type'], TYPES.join(', ')))
    path.length -= 2
  }
  checkItems(schema, path, add)
  if (!isPlain) checkRest(schema, properties, path, level, add)
}

function checkRest(schema: MapNode, properties: MapNode | undefined, path: Steps, level: Level, add: Add): void {
  for (const name of NOT_SUPPORTED)
    if (isFilled(schema, name)) add(forbiddenField([...path, name], 'a schema without this field'))
  if (isTrue(schema, 'uniqueItems'))
    add(forbiddenField([...path, 'uniqueItems'], `${LIST_TYPE}: set in place of this field`))
  const extra = valueIn(schema, 'additionalProperties')
  if (extra && properties && properties.fields.size > 0 && !(extra.type === 'scalar' && extra.value === false))
    add(forbiddenField([...path, 'additionalProperties'], 'properties or additionalProperties'))
  if (extra?.type === 'map') {
    path.push('additionalProperties')
    walk(extra, path, 'field', add)
    path.pop()
  }
  if (level === 'root' || isTrue(schema, EMBEDDED)) checkObjectFields(properties, path, level, add)
  checkList(schema, path, add)
  for (const name of LOGIC)
    for (const [index, part] of itemsIn(schema, name).entries())
      if (part.type === 'map') walkLogic(part, schema, [...path, name, index], add)
  const not = mapIn(schema, 'not')
  if (not) walkLogic(not, schema, [...path, 'not'], add)
}

function checkType(schema: MapNode, path: Path, level: Level, add: Add): void {
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
function checkObjectFields(properties: MapNode | undefined, path: Path, level: Level, add: Add): void {
  for (const [name, wanted] of [
    ['metadata', 'object'],
    ['apiVersion', 'string'],
    ['kind', 'string'],
  ] as const) {
    const own = mapIn(properties, name)
    const type = textIn(own, 'type')
    if (type && TYPES.includes(type) && type !== wanted) add(wrongWord([...path, 'properties', name, 'type'], [wanted]))
  }
  if (level !== 'root') return
  for (const name of mapIn(mapIn(properties, 'metadata'), 'properties')?.fields.keys() ?? [])
    if (!METADATA.includes(name))
      add(forbiddenField([...path, 'properties', 'metadata', 'properties', name], METADATA.join(' and ')))
}

function checkItems(schema: MapNode, path: Steps, add: Add): void {
  const items = valueIn(schema, 'items')
  const here = () => [...path, 'items']
  if (items?.type === 'map') {
    path.push('items')
    walk(items, path, 'item', add)
    path.pop()
  } else if (items?.type === 'list') add(forbiddenField(here(), 'one schema for all items'))
  else if (items?.type === 'scalar' && !items.opaque)
    add({ kind: 'wrong-type', path: here(), allowed: 'a map', found: writtenAs(items) })
  else if (items === undefined && textIn(schema, 'type') === 'array')
    add(missingField(here(), 'a schema for the items'))
}

/** The keys of a list must be fields of its items that are always there. */
function checkList(schema: MapNode, path: Path, add: Add): void {
  const [kind, keys] = [textIn(schema, LIST_TYPE), itemsIn(schema, LIST_KEYS)]
  if (kind !== undefined && !LIST_TYPES.includes(kind)) add(wrongWord([...path, LIST_TYPE], LIST_TYPES))
  if (kind === 'map' && keys.length === 0 && !isHidden(schema, LIST_KEYS))
    add(missingField([...path, LIST_KEYS], `at least one field, because ${LIST_TYPE} is map`))
  if (kind !== 'map') {
    if (keys.length > 0) add(forbiddenField([...path, LIST_KEYS], `this field where ${LIST_TYPE} is map`))
    return
  }
  const items = mapIn(schema, 'items')
  const fields = mapIn(items, 'properties')
  if (items === undefined) return
  const names = [...(fields?.fields.keys() ?? [])]
  const required = itemsIn(items, 'required').map(node => (node.type === 'scalar' ? node.value : undefined))
  for (const [index, key] of keys.entries()) {
    if (key.type !== 'scalar' || typeof key.value !== 'string' || key.opaque) continue
    const here = [...path, LIST_KEYS, index]
    const field = mapIn(fields, key.value)
    if (field === undefined) add(wrongWord(here, names))
    else if (!required.includes(key.value) && valueIn(field, 'default') === undefined)
      add(badValue(here, 'a field that is required or has a default', 'the name of another field'))
  }
}

/** Parts of the logic only restrict values: what they name must be declared outside of them. */
function walkLogic(part: MapNode, around: MapNode, path: Path, add: Add): void {
  for (const name of NOT_IN_LOGIC)
    if (isFilled(part, name)) add(forbiddenField([...path, name], 'this field outside of allOf, anyOf, oneOf and not'))
  for (const name of ['type', 'nullable'] as const)
    if (isFilled(part, name) && !isTrue(around, INT_OR_STRING) && !isNested(path))
      add(forbiddenField([...path, name], 'this field outside of allOf, anyOf, oneOf and not'))
}

/** Deeper logic is left to the API server: which parts it takes depends on those around them. */
const isNested = (path: Path): boolean =>
  path.filter(step => step === 'not' || (LOGIC as readonly (string | number)[]).includes(step)).length > 1

const isTrue = (schema: MapNode | undefined, name: string): boolean => {
  const value = valueIn(schema, name)
  return value?.type === 'scalar' && value.value === true
}

/** Whether a field says something; `false` and empty lists and texts do not. */
function isFilled(schema: MapNode, name: string): boolean {
  const value = valueIn(schema, name)
  if (value === undefined || !isSet(schema, name)) return false
  if (value.type === 'map') return name === 'default' || name === 'additionalProperties' || value.fields.size > 0
  return value.type === 'list' ? value.items.length > 0 : value.value !== false || name === 'default'
}
