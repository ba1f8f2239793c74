import { BailiwickError } from '../../errors.ts'
import { isTextForOldYaml } from '../resource/text-for-old-yaml.ts'
import { type Cell, cellText, emptyCell, isEmptyMap, isMissing, textCell } from './cell.ts'
import { findElement, setElement } from './set-element.ts'

type Keys = readonly string[]
type MergeElement = (dest: Cell | undefined, patch: Cell | undefined) => Cell | undefined

/**
 * Merges two lists by the keys of their elements: elements of the patch come first, in its order; then what only the
 * object has. No keys: a list of plain values. Follows kyaml's walkAssociativeSequence, including what it does to
 * elements that lack a key. Throws `kustomize-invalid` where it does.
 */
export function mergeList(
  dest: Cell,
  patch: Cell | undefined,
  schemaKeys: Keys,
  merge: MergeElement,
  spend: (steps: number) => void,
): Cell {
  const lists = patch ? [patch, dest] : [dest]
  const keys = schemaKeys.length > 0 ? schemaKeys : ['']
  const plain = keys.length === 1 ? mergePlain(dest, patch, keys[0]!, merge) : undefined
  if (plain) return plain
  spend(Math.ceil(lists.reduce((sum, list) => sum + list.items.length, 0) ** 2))
  let values = distinct(lists.flatMap(list => list.items.map(item => keys.map(key => valueAt(item, key)))))
  if (keys.length > 1) values = unify(values)
  const added = emptyCell('list', dest.origin)
  let valid: Valid = { keys: [], values: [] }
  for (const value of values) {
    valid = validKeys(values, value, keys)
    const wanted = validKeys([valid.values], valid.values, valid.keys)
    const find = (list: Cell | undefined) => list && findElement(list, wanted.keys, wanted.values)
    const merged = merge(find(dest), find(patch))
    if (isEmptyMap(merged)) setElement(dest, undefined, valid.keys, valid.values)
    else {
      setKeys(merged, valid)
      setElement(added, merged, valid.keys, valid.values)
    }
  }
  if (values.length === 0) return dest
  appendList(added, dest, valid.keys)
  return added
}

/** The same for what people write, in linear time: every element has a key of its own. Undefined where not. */
function mergePlain(dest: Cell, patch: Cell | undefined, key: string, merge: MergeElement): Cell | undefined {
  const before = byKey(dest, key)
  const changes = patch ? byKey(patch, key) : new Map<string, Cell>()
  if (!before || !changes) return undefined
  const result = emptyCell('list', dest.origin)
  for (const value of new Set([...changes.keys(), ...before.keys()])) {
    const old = before.get(value)
    const merged = merge(old, changes.get(value))
    if (isEmptyMap(merged)) continue
    setKeys(merged, { keys: [key], values: [value] })
    // the old element takes the place of the merged one: it is that, unless the patch replaces it
    result.items.push(old ?? merged)
  }
  return result.items.length === 0 && before.size + changes.size === 0 ? dest : result
}

function byKey(list: Cell, key: string): Map<string, Cell> | undefined {
  const elements = new Map<string, Cell>()
  for (const item of list.items) {
    if (isMissing(item) || item.type !== (key === '' ? 'scalar' : 'map')) return undefined
    const text = valueAt(item, key)
    if (text === '' || elements.has(text)) return undefined
    elements.set(text, item)
  }
  return elements
}

interface Valid {
  readonly keys: Keys
  readonly values: Keys
}

function valueAt(item: Cell, key: string): string {
  if (key === '') return cellText(item)
  const field = item.fields.get(key)?.value
  return isMissing(field) ? '' : cellText(field)
}

function distinct(list: readonly Keys[]): Keys[] {
  return [...new Map(list.map(values => [JSON.stringify(values), values])).values()]
}

/** Values that agree in one key and are empty in the other mean the same element. */
function unify(list: readonly Keys[]): Keys[] {
  const values = [...list]
  // what the outer loop compares stays as it was when its turn came
  for (const [i, a] of values.entries()) {
    for (let j = 0; j < values.length; j++) {
      const matched = match(a, values[j]!)
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
function validKeys(all: readonly Keys[], values: Keys, keys: Keys): Valid {
  const used = keys.map((_, i) => all.some(other => (other[i] ?? '') !== ''))
  if (!used.some(Boolean)) return { keys, values }
  return { keys: keys.filter((_, i) => used[i]), values: values.filter((value, i) => value !== '' || used[i]) }
}

function setKeys(element: Cell, { keys, values }: Valid): void {
  for (const [i, key] of keys.entries()) {
    const value = values[i] ?? ''
    if (value === '' || element.fields.has(key)) continue
    if (key === '' && element.type === 'scalar') continue
    if (key === '' || element.type !== 'map') wrongSort(element, key)
    const text = textCell(value, element.origin, !isTextForOldYaml(value))
    element.fields.set(key, { key: element.origin, value: text })
  }
}

function appendList(list: Cell, rest: Cell, keys: Keys): void {
  for (const item of rest.items) {
    if (keys[0] === '') {
      setElement(list, item, keys, [cellText(item)])
      continue
    }
    const values: string[] = []
    for (const key of keys) {
      if (!isMissing(item) && item.type !== 'map') wrongSort(item, key)
      const field = item.fields.get(key)?.value
      // an element without the key is put there once per key, before it is looked for
      if (field === undefined) list.items.push(item)
      else values.push(cellText(field))
    }
    if (keys.length > 1) setElement(list, undefined, keys, values)
    setElement(list, item, keys, values)
  }
}

function wrongSort(element: Cell, key: string): never {
  const message = `patch: an element of a list that merges by ${key === '' ? 'value' : key} is a ${element.type}`
  throw new BailiwickError('kustomize-invalid', message, { origin: element.origin })
}
