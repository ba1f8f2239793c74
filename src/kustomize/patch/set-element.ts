import { BailiwickError } from '../../errors.ts'
import { type Cell, cellText, isEmptyMap, isMissing } from './cell.ts'

/**
 * Replaces the elements of a list that have these values at these keys, or adds one where none has; `undefined` removes
 * them. A list of plain values has the one key ''. Elements that are empty go. kyaml's ElementSetter, with what it does
 * for fewer values than keys; throws `kustomize-invalid` where it meets an element of another sort.
 */
export function setElement(
  list: Cell,
  element: Cell | undefined,
  keys: readonly string[],
  values: readonly string[],
): void {
  const kept: Cell[] = []
  let found = false
  const forMaps = keys[0] !== '' && values.length > 0 && values[0] !== ''
  for (const item of list.items) {
    if (isEmptyMap(item)) continue
    if (item.type !== 'map' && forMaps) kept.push(item)
    else if (!hasValues(item, keys, values)) {
      if (values.length > 0) kept.push(item)
    } else {
      found = true
      if (element) kept.push(element)
    }
  }
  if (element && !isMissing(element) && !found) kept.push(element)
  list.items = kept
}

function hasValues(item: Cell, keys: readonly string[], values: readonly string[]): boolean {
  // a key without a value asks what the key before it was answered
  let matches = false
  for (const [index, key] of keys.entries()) {
    const value = values[index]
    if (value !== undefined) matches = matchesField(item, key, value)
    if (!matches) return false
  }
  return true
}

function matchesField(item: Cell, key: string, value: string): boolean {
  if (item.type !== (key === '' ? 'scalar' : 'map')) {
    const message = `patch: an element of a list that merges by ${key === '' ? 'value' : key} is a ${item.type}`
    throw new BailiwickError('kustomize-invalid', message, { origin: item.origin })
  }
  return key === '' ? cellText(item) === value : fieldHas(item, key, value)
}

/** Whether a map has a field with this text; any field does for an empty text. */
function fieldHas(map: Cell, key: string, value: string): boolean {
  const field = map.fields.get(key)?.value
  return field !== undefined && (value === '' || cellText(field) === value)
}

/** The first element of a list that has exactly these values at these keys; here an empty text is only that. */
export function findElement(list: Cell, keys: readonly string[], values: readonly string[]): Cell | undefined {
  if (keys.length === 0 || keys[0] === '') return list.items.find(item => cellText(item) === (values[0] ?? ''))
  if (keys.length !== values.length) return undefined
  const matches = (item: Cell): boolean =>
    keys.every((key, i) => item.fields.has(key) && cellText(item.fields.get(key)?.value) === values[i])
  return list.items.find(item => item.type === 'map' && matches(item))
}
