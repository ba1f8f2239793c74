import { BailiwickError } from '../../base/errors.ts'
import { type MapNode, writtenText } from '../../kube/node.ts'
import { isTextForOldYaml } from '../resource/round-trip.ts'
import {
  assignCell,
  type Cell,
  type CellField,
  cellText,
  emptyCell,
  findElement,
  fromCell,
  isEmptyMap,
  isMissing,
  setElement,
  takeDirective,
  takeKnownDirective,
  textCell,
  toCell,
} from './cell.ts'
import { elementSchema, fieldSchema, type Schema, schemaOfObject } from './merge-schema.ts'

/**
 * `object` under a strategic merge patch, as kyaml's merge2 does it (with lists growing at the front); undefined where
 * the patch deletes the object. Throws `kustomize-invalid` where a map meets a list or a text, and for a directive that
 * does not exist. `spend` gets what merging lists costs beyond the size of both sides.
 */
export function strategicMerge(
  object: MapNode,
  patch: MapNode,
  spend: (steps: number) => void = () => {},
): MapNode | undefined {
  const replaces = writtenText(patch.fields.get('$patch')?.value) === 'replace'
  const merged = new Merger(spend).merge(toCell(object), toCell(patch), undefined)
  // kustomize computes what a replaced object would be and then forgets it
  if (replaces) return object
  const node = merged && fromCell(merged)
  return node?.type === 'map' ? node : undefined
}

class Merger {
  private readonly spend: (steps: number) => void

  constructor(spend: (steps: number) => void) {
    this.spend = spend
  }

  /** Merges one value; both sides may be missing. */
  merge(dest: Cell | undefined, patch: Cell | undefined, known: Schema): Cell | undefined {
    const first = isMissing(dest) ? patch : dest
    const type = isMissing(first) ? 'map' : first.type
    if (!isMissing(patch) && patch.type !== type) {
      const message = `patch: contains a ${patch.type} where the object has a ${type}`
      throw new BailiwickError('kustomize-invalid', message, { origin: patch.origin })
    }
    if (type === 'scalar') return patch ?? dest
    const schema = known ?? objectSchema(dest) ?? objectSchema(patch)
    if (type === 'map') return this.mergeMap(dest, patch, schema)
    return schema?.keys ? this.mergeKeyed(dest, patch, schema, schema.keys) : (patch ?? dest)
  }

  private mergeMap(dest: Cell | undefined, patch: Cell | undefined, schema: Schema): Cell | undefined {
    const target = chooseMap(dest, patch)
    if (!target) return undefined
    // without a patch nothing is added on the way, and what is removed was already seen
    const names = patch ? new Set([...target.fields.keys(), ...patch.fields.keys()]) : target.fields.keys()
    for (const name of names) {
      if (name === '') refuseEmptyName(patch?.fields.has('') ? patch : target)
      const before = target.fields.get(name)
      const change = patch?.fields.get(name)
      // most of an object: a value that is not in the patch
      if (before && !change && before.value.scalar && before.value.scalar.value !== null) {
        quoteField(before.value)
        continue
      }
      const value = this.merge(before?.value, change?.value, fieldSchema(schema, name))
      setField(target, name, value, change)
    }
    return target
  }

  private mergeKeyed(
    dest: Cell | undefined,
    patch: Cell | undefined,
    schema: Schema,
    keys: readonly string[],
  ): Cell | undefined {
    const target = chooseList(dest, patch)
    if (!target) return undefined
    const element = elementSchema(schema)
    return mergeList(target, patch, keys, (before, change) => this.merge(before, change, element), this.spend)
  }
}

/** Which of two maps the fields of both go into; undefined where nothing is left (merge2.go VisitMap). */
function chooseMap(dest: Cell | undefined, patch: Cell | undefined): Cell | undefined {
  if (isMissing(dest)) {
    const missing: Cell | undefined = dest
    if (takeKnownDirective(patch) === 'delete') return undefined
    if (patch || cellText(missing) === '') return patch
    return { ...missing!, keep: true }
  }
  if (patch?.scalar) return undefined
  const directive = takeDirective(patch)
  if (directive === 'delete') return undefined
  return directive === 'replace' ? patch : dest
}

/** The same for lists; a directive for a list that is not there stays in it as an element (merge2.go VisitList). */
function chooseList(dest: Cell | undefined, patch: Cell | undefined): Cell | undefined {
  if (isMissing(dest)) return patch
  if (patch?.scalar) return undefined
  const directive = takeDirective(patch)
  if (directive === 'delete') return undefined
  return directive === 'replace' ? patch : dest
}

/** A value inside another kind's object may be an object itself; kyaml then takes the schema of that. */
function objectSchema(cell: Cell | undefined): Schema {
  const apiVersion = cellText(cell?.fields.get('apiVersion')?.value)
  const kind = cellText(cell?.fields.get('kind')?.value)
  return apiVersion && kind ? schemaOfObject(apiVersion, kind) : undefined
}

/** For kyaml a field without a name is the value itself, which a map is not. */
function refuseEmptyName(map: Cell): never {
  const message = 'patch: the target has a field with an empty name, which is not supported'
  throw new BailiwickError('kustomize-invalid', message, { origin: map.fields.get('')?.key ?? map.origin })
}

/** kyaml's FieldSetter: nothing and null remove the field, unless the null was written where it is. */
function setField(map: Cell, name: string, value: Cell | undefined, change: CellField | undefined): void {
  if (!value || (isMissing(value) && !(value as Cell).keep)) {
    if (map.fields.delete(name) && change) map.removed = new Map(map.removed).set(name, change.key)
    return
  }
  const field = map.fields.get(name)
  if (field && field.value !== value) {
    assignCell(field.value, value)
    // a map or list of the patch stands there as a whole: what it lacks, it removed
    if (change?.value === value && value.type !== 'scalar') map.fields.set(name, { ...field, key: change.key })
    return
  }
  quoteField(value)
  const key = change?.key ?? value.origin
  if (!field) map.fields.set(name, change?.quoted ? { key, value, quoted: true } : { key, value })
}

/** What YAML 1.1 would not read as text gets quotes, so that it stays a text under the next patch. */
function quoteField(cell: Cell): void {
  const { scalar } = cell
  if (typeof scalar?.value !== 'string' || scalar.quoted || scalar.style || isTextForOldYaml(scalar.value)) return
  cell.scalar = { ...scalar, quoted: true }
}

type Keys = readonly string[]
type MergeElement = (dest: Cell | undefined, patch: Cell | undefined) => Cell | undefined

/**
 * Merges two lists by the keys of their elements: elements of the patch come first, in its order; then what only the
 * object has. No keys: a list of plain values. Follows kyaml's walkAssociativeSequence, including what it does to
 * elements that lack a key. Throws `kustomize-invalid` where it does.
 */
function mergeList(
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
