import type { MapNode, Path } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import { isTrue } from './is-filled.ts'
import {
  badValue,
  forbiddenField,
  isHidden,
  itemsIn,
  mapIn,
  missingField,
  textIn,
  valueIn,
  wrongWord,
} from './read-field.ts'

type Add = (problem: Problem) => void

const LIST_TYPE = 'x-kubernetes-list-type'
const LIST_KEYS = 'x-kubernetes-list-map-keys'
const MAP_TYPE = 'x-kubernetes-map-type'
const LIST_TYPES = ['atomic', 'set', 'map']
const MAP_TYPES = ['atomic', 'granular']
const SCALARS = ['boolean', 'integer', 'number', 'string']

/** How the items of lists are told apart, and whether maps merge (pkg/apis/apiextensions/validation, specStandardValidatorV3). */
export function checkLists(schema: MapNode, path: Path, add: Add): void {
  const [kind, merging] = [textIn(schema, LIST_TYPE), textIn(schema, MAP_TYPE)]
  if (merging !== undefined) {
    if (!MAP_TYPES.includes(merging)) add(wrongWord([...path, MAP_TYPE], MAP_TYPES))
    checkOwner(schema, 'object', MAP_TYPE, path, add)
  }
  const keys = itemsIn(schema, LIST_KEYS)
  if (kind !== undefined) {
    if (!LIST_TYPES.includes(kind)) add(wrongWord([...path, LIST_TYPE], LIST_TYPES))
    checkOwner(schema, 'array', LIST_TYPE, path, add)
  }
  if (kind === 'map' && keys.length === 0 && !isHidden(schema, LIST_KEYS))
    add(missingField([...path, LIST_KEYS], `at least one field, because ${LIST_TYPE} is map`))
  if (kind !== 'map' && keys.length > 0)
    add(forbiddenField([...path, LIST_KEYS], `this field where ${LIST_TYPE} is map`))
  const items = mapIn(schema, 'items')
  if (items === undefined || (kind !== 'map' && kind !== 'set')) return
  if (isTrue(items, 'nullable'))
    add(forbiddenField([...path, 'items', 'nullable'], `items that are not null, in a ${kind}`))
  if (kind === 'set') checkMembers(items, [...path, 'items'], add)
  else checkKeys(schema, items, path, add)
}

/** The marker of a list stands on a list, and that of a map on a map. */
function checkOwner(schema: MapNode, type: string, marker: string, path: Path, add: Add): void {
  const written = textIn(schema, 'type') ?? ''
  if (written === '' && !isHidden(schema, 'type'))
    add(missingField([...path, 'type'], `${type}, because ${marker} is set`))
  if (written !== '' && written !== type) add(wrongWord([...path, 'type'], [type]))
}

/** Members of a set are compared as a whole. */
function checkMembers(items: MapNode, path: Path, add: Add): void {
  const type = textIn(items, 'type')
  const marker = type === 'object' ? MAP_TYPE : type === 'array' ? LIST_TYPE : undefined
  if (marker === undefined || isHidden(items, marker)) return
  const written = textIn(items, marker)
  // the API server takes a list without a type for an atomic one
  if (written === undefined ? type === 'object' : written !== 'atomic')
    add(
      badValue(
        [...path, marker],
        'atomic, because the items are members of a set',
        written ? 'another word' : 'nothing',
      ),
    )
}

/** The keys of a list must be fields of its items that are always there. */
function checkKeys(schema: MapNode, items: MapNode, path: Path, add: Add): void {
  const fields = mapIn(items, 'properties')
  const names = [...(fields?.fields.keys() ?? [])]
  const required = itemsIn(items, 'required').map(node => (node.type === 'scalar' ? node.value : undefined))
  const seen = new Set<string>()
  for (const [index, key] of itemsIn(schema, LIST_KEYS).entries()) {
    if (key.type !== 'scalar' || typeof key.value !== 'string' || key.opaque) continue
    const here = [...path, LIST_KEYS, index]
    if (seen.has(key.value)) add({ kind: 'duplicate', path: here, allowed: 'each field once', found: 'a duplicate' })
    seen.add(key.value)
    const [field, there] = [mapIn(fields, key.value), [...path, 'items', 'properties', key.value]]
    if (field === undefined) {
      add(wrongWord(here, names))
      continue
    }
    if (!required.includes(key.value) && valueIn(field, 'default') === undefined)
      add(badValue(here, 'a field that is required or has a default', 'the name of another field'))
    if (isTrue(field, 'nullable')) add(forbiddenField([...there, 'nullable'], 'keys of a list that are not null'))
    const type = textIn(field, 'type')
    if (type === 'object' || type === 'array') add(wrongWord([...there, 'type'], SCALARS))
  }
}
