import { BailiwickError } from '../../errors.ts'
import { isAbsent, textNode, withField, writtenText } from '../../kube/edit-node.ts'
import type { ListNode, MapNode, Node } from '../../kube/node.ts'
import type { MergeField } from './merge-types.ts'
import type { Schema } from './strategic-merge.ts'

type Merge = (dest: Node | undefined, patch: Node | undefined, schema: Schema) => Node | undefined
type Keys = readonly string[]

/**
 * Merges two lists by the keys of their elements: elements of the patch come first, in its order; then what only the
 * object has. Follows kyaml's walkAssociativeSequence, including what it does to elements that lack a key.
 */
export function mergeList(dest: ListNode, patch: ListNode | undefined, field: MergeField, merge: Merge) {
  const keys = field.keys?.length ? field.keys : ['']
  let values = keyValues([...(patch ? [patch] : []), dest], keys)
  if (keys.length === 1) refuseWithoutKey([...(patch?.items ?? []), ...dest.items], keys[0]!)
  if (keys.length > 1) values = unify(values)
  const element: Schema = { known: true, ...(field.type ? { type: field.type } : {}) }
  let rest = dest.items
  let added: readonly Node[] = []
  let valid: { keys: Keys; values: Keys } = { keys, values: [] }
  for (const value of values) {
    valid = validKeys(values, value, keys)
    const lookup = validKeys([value], value, keys)
    const before = find(rest, lookup)
    const change = patch && find(patch.items, lookup)
    const merged = merge(before, change, element)
    if (isAbsent(merged) || (merged.type === 'map' && merged.fields.size === 0)) {
      rest = setElement(rest, undefined, valid.keys, valid.values)
      continue
    }
    const complete = withKeys(merged, valid)
    added = setElement(added, complete, valid.keys, valid.values)
    // kyaml merges into the element itself, which takes the place below of what was just added; a replacing patch does
    // not, so that the old element comes back
    const inPlace = before?.type === 'map' && !(change && change !== before && replaces(change))
    if (inPlace) rest = rest.map(item => (item === before ? complete : item))
  }
  const items = values.length > 0 ? appendAll(added, rest, valid.keys) : rest
  return { ...dest, items }
}

/** What kustomize does to an element without its key is an accident: it may drop all others. */
function refuseWithoutKey(items: readonly Node[], key: string): void {
  for (const item of items) {
    if (key === '' || (item.type === 'map' && writtenText(item.fields.get(key)?.value) !== '')) continue
    const message = `an element of a list that merges by ${key} has no ${key}`
    throw new BailiwickError('kustomize-unsupported', message, { origin: item.origin, fix: `Give it a ${key}.` })
  }
}

const replaces = (patch: Node): boolean =>
  patch.type === 'map' && writtenText(patch.fields.get('$patch')?.value) === 'replace'

function keyValues(lists: readonly ListNode[], keys: Keys): Keys[] {
  const seen = new Map<string, Keys>()
  for (const list of lists) {
    for (const item of list.items) {
      const values = keys.map(key => (key === '' ? scalarText(item) : keyText(item, key)))
      const id = JSON.stringify(values)
      if (!seen.has(id)) seen.set(id, values)
    }
  }
  return [...seen.values()]
}

function keyText(item: Node, key: string): string {
  if (item.type !== 'map') {
    throw new BailiwickError('kustomize-invalid', `an element of a list that merges by ${key} is no map`, {
      origin: item.origin,
    })
  }
  return isAbsent(item.fields.get(key)?.value) ? '' : scalarText(item.fields.get(key)!.value)
}

function scalarText(node: Node): string {
  if (node.type === 'scalar') return writtenText(node)
  const message = 'a key by which a list is merged is no plain value'
  throw new BailiwickError('kustomize-unsupported', message, { origin: node.origin })
}

/** Values that agree in one key and are empty in the other mean the same element. */
function unify(list: readonly Keys[]): Keys[] {
  const values = [...list]
  for (let i = 0; i < values.length; i++) {
    for (let j = 0; j < values.length; j++) {
      const matched = match(values[i]!, values[j]!)
      if (!matched) continue
      values[i] = matched
      values[j] = matched
    }
  }
  return values
}

function match(a: Keys, b: Keys): Keys | undefined {
  if (a.some((value, i) => value !== b[i] && value !== '' && b[i] !== '')) return undefined
  if (!a.some((value, i) => value === b[i])) return undefined
  return a.map((value, i) => (value !== '' ? value : b[i]!))
}

/** Keys that no element has are left out of the comparison. */
function validKeys(all: readonly Keys[], values: Keys, keys: Keys): { keys: Keys; values: Keys } {
  const used = keys.map((_, i) => all.some(other => other[i] !== ''))
  if (!used.some(Boolean)) return { keys, values }
  return { keys: keys.filter((_, i) => used[i]), values: values.filter((value, i) => value !== '' || used[i]) }
}

function find(items: readonly Node[], wanted: { keys: Keys; values: Keys }): Node | undefined {
  if (wanted.keys[0] === '') return items.find(item => item.type === 'scalar' && writtenText(item) === wanted.values[0])
  return items.find(item => item.type === 'map' && wanted.keys.every((key, i) => matches(item, key, wanted.values[i]!)))
}

function matches(item: MapNode, key: string, value: string): boolean {
  const field = item.fields.get(key)?.value
  if (field === undefined) return false
  if (value === '') return true
  return !isAbsent(field) && writtenText(field) === value
}

/** kyaml's ElementSetter: replaces or removes what has these keys; `undefined` removes. Empty elements go. */
function setElement(items: readonly Node[], element: Node | undefined, keys: Keys, values: Keys): readonly Node[] {
  // without values to compare, it drops every element that is there
  if (values.length === 0) return element ? [element] : []
  const kept: Node[] = []
  let found = false
  const setsMap = keys[0] !== '' && values.length > 0 && values[0] !== ''
  for (const item of items) {
    if (isAbsent(item) || (item.type === 'map' && item.fields.size === 0)) continue
    if (item.type !== 'map' && setsMap) kept.push(item)
    else if (!hasKeys(item, keys, values)) kept.push(item)
    else {
      found = true
      if (element) kept.push(element)
    }
  }
  if (element && !found) kept.push(element)
  return kept
}

function hasKeys(item: Node, keys: Keys, values: Keys): boolean {
  if (keys[0] === '') return item.type === 'scalar' && writtenText(item) === values[0]
  return item.type === 'map' && keys.every((key, i) => i >= values.length || matches(item, key, values[i]!))
}

function withKeys(node: Node, valid: { keys: Keys; values: Keys }): Node {
  if (node.type !== 'map') return node
  let map: MapNode = node
  for (const [i, key] of valid.keys.entries()) {
    const value = valid.values[i]
    if (!map.fields.has(key) && value) map = withField(map, key, textNode(value, node.origin))
  }
  return map
}

function appendAll(added: readonly Node[], rest: readonly Node[], keys: Keys): readonly Node[] {
  let items = added
  for (const item of rest) {
    if (keys[0] === '') {
      items = setElement(items, item, keys, [scalarText(item)])
      continue
    }
    const values: string[] = []
    for (const key of keys) {
      const field = item.type === 'map' ? item.fields.get(key)?.value : undefined
      // an element without the key is put there once per key, before it is looked for
      if (isAbsent(field)) items = [...items, item]
      else values.push(scalarText(field))
    }
    if (keys.length > 1) items = setElement(items, undefined, keys, values)
    items = setElement(items, item, keys, values)
  }
  return items
}
