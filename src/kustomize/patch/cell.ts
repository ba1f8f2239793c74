import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { type Field, fieldLike, type MapNode, type Node, type ScalarNode, writtenText } from '../../kube/node.ts'

/**
 * A node that can change. kyaml merges in place, and parts of a patch become parts of the object while it goes on: only
 * with nodes that change the same way is every corner of its result the same.
 */
export interface Cell {
  type: Node['type']
  origin: Origin
  scalar: ScalarNode | undefined
  fields: Map<string, CellField>
  items: Cell[]
  /** A null that was written as such, which stays. */
  keep: boolean
  /** Written in brackets; what takes its place in a field is, too. */
  flow: boolean
  /** A comment stands behind the colon of its key. */
  noted: boolean
  /** What the cell was made from; it is given back where nothing has changed. */
  source: Node | undefined
  /** Of a map: the lines of the patch that removed its fields. */
  removed?: Map<string, Origin>
  /** What tells a scalar that stands at several places, where it is this one cell. */
  shared?: object
}

export interface CellField {
  readonly key: Origin
  readonly value: Cell
  /** As in a field. */
  readonly quoted?: true
}

/** A node and everything in it as cells; scalars that are one value at several places are one cell. */
export function toCell(node: Node, sharing: Map<object, Cell> = new Map()): Cell {
  if (node.type === 'scalar') return scalarCell(node, sharing)
  const cell = emptyCell(node.type, node.origin)
  cell.source = node
  cell.noted = node.noted === true
  cell.flow = node.flow === true && (node.type === 'list' ? node.items.length : node.fields.size) > 0
  if (node.type === 'list') cell.items = node.items.map(item => toCell(item, sharing))
  else {
    for (const [name, { key, value, quoted }] of node.fields) {
      const made = toCell(value, sharing)
      cell.fields.set(name, quoted ? { key, value: made, quoted } : { key, value: made })
    }
  }
  return cell
}

function scalarCell(node: ScalarNode, sharing: Map<object, Cell>): Cell {
  const { shared } = node
  const known = shared && sharing.get(shared)
  if (known) return known
  const cell = emptyCell('scalar', node.origin)
  cell.source = node
  cell.noted = node.noted === true
  cell.scalar = node
  if (shared) {
    cell.shared = shared
    sharing.set(shared, cell)
  }
  return cell
}

const NO_FIELDS: Map<string, CellField> = new Map()
const NO_ITEMS: Cell[] = []

export function emptyCell(type: Node['type'], origin: Origin): Cell {
  return {
    type,
    origin,
    scalar: undefined,
    // only maps get fields and only lists items: most cells are scalars, and an empty map is far larger than they are
    fields: type === 'map' ? new Map() : NO_FIELDS,
    items: type === 'list' ? [] : NO_ITEMS,
    keep: false,
    flow: false,
    noted: false,
    source: undefined,
  }
}

/** A cell with this text, as if it were written there. */
export function textCell(value: string, origin: Origin, quoted: boolean): Cell {
  const cell = emptyCell('scalar', origin)
  cell.scalar = { type: 'scalar', value, origin, ...(quoted ? { quoted } : {}) }
  return cell
}

/** The node that a cell has become; the one that it was made from where it still is that. */
export function fromCell(cell: Cell, inList = false, inFlow = false): Node {
  const { source } = cell
  const flow = inFlow || cell.flow
  if (cell.type === 'scalar') return scalarOf(cell, flow)
  if (cell.type === 'list') {
    const items = cell.items.map(item => fromCell(item, true, flow))
    const same = source?.type === 'list' && sameItems(items, source.items)
    return same ? source : { type: 'list', items, origin: cell.origin, ...(flow ? { flow } : {}) }
  }
  const before = source?.type === 'map' && source.fields.size === cell.fields.size ? source.fields : undefined
  let fields = before ? undefined : new Map<string, Field>()
  let count = 0
  for (const [name, field] of cell.fields) {
    const { key, value } = field
    if (flow && value.noted && !value.flow) refuseNoted(value, key)
    const made = asField(fromCell(value, inList, flow), inList)
    const node = value.noted ? notedField(value, made, key) : made
    if (!fields && before!.get(name)?.value !== node) fields = firstFields(cell, count, before!)
    fields?.set(name, fieldLike(field, key, node))
    count++
  }
  if (!fields && source) return source
  const made = fields ?? new Map<string, Field>()
  const map = source?.type === 'map' ? { ...source, fields: made, origin: cell.origin } : mapOf(made, cell.origin)
  const removed = cell.removed ? { removed: new Map([...(map.removed ?? []), ...cell.removed]) } : {}
  return { ...map, ...removed, ...(flow ? { flow } : {}) }
}

/** The first fields of a cell, whose values are still those that it was made from. */
function firstFields({ fields }: Cell, count: number, before: ReadonlyMap<string, Field>): Map<string, Field> {
  const first = new Map<string, Field>()
  for (const [name, field] of fields) {
    if (first.size === count) break
    first.set(name, fieldLike(field, field.key, before.get(name)!.value))
  }
  return first
}

function scalarOf({ scalar, shared }: Cell, inFlow: boolean): ScalarNode {
  if (inFlow && scalar!.value === null && scalar!.text === '') {
    const message = 'patch: an empty null inside brackets, which kustomize writes as an empty string'
    throw new BailiwickError('kustomize-unsupported', message, { origin: scalar!.origin, fix: 'Write null or "".' })
  }
  return shared && scalar!.shared !== shared ? { ...scalar!, shared } : scalar!
}

/** What kustomize writes for nothing behind a comment is not valid YAML. */
function notedField({ source }: Cell, node: Node, key: Origin): Node {
  if (node === source && node.noted) return node
  const isEmpty = node.type === 'list' ? node.items.length === 0 : node.type === 'map' && node.fields.size === 0
  if (!isEmpty) return node.noted ? node : { ...node, noted: true }
  const message = 'patch: empties a field that has a comment after its colon, which kustomize cannot write'
  throw new BailiwickError('kustomize-unsupported', message, {
    origin: key,
    fix: 'Move the comment to the line above the field.',
  })
}

/** Between brackets kustomize writes such a comment where it ends the line of the key, and the value is lost. */
function refuseNoted({ type }: Cell, origin: Origin): void {
  if (type === 'scalar') return
  const message = 'patch: moves a field that has a comment after its colon into brackets, which kustomize cannot write'
  throw new BailiwickError('kustomize-unsupported', message, {
    origin,
    fix: 'Move the comment to the line above the field.',
  })
}

/** A merge sets every field anew, and with that a value without a type becomes a text. */
function asField(node: Node, inList: boolean): Node {
  if (node.type !== 'scalar' || !node.untyped || typeof node.value === 'string') return node
  if (!inList) return { type: 'scalar', value: writtenText(node), origin: node.origin, quoted: true }
  const message = 'patch: merges a list that contains a number or boolean set by a transformer, which is not supported'
  throw new BailiwickError('kustomize-unsupported', message, { origin: node.origin })
}

const mapOf = (fields: Map<string, Field>, origin: Origin): MapNode => ({ type: 'map', fields, origin })

const sameItems = (a: readonly Node[], b: readonly Node[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index])

/** Makes `cell` what `other` is, without a copy of what is in it; a scalar keeps the way in which it was written. */
export function assignCell(cell: Cell, other: Cell): void {
  if (cell === other) return
  const style = cell.scalar
  const { type, origin, scalar, fields, items, source, removed } = other
  Object.assign(cell, { type, origin, fields, items, source, removed, scalar: scalar && inStyleOf(scalar, style) })
}

/**
 * A scalar written as another one was: what stood in quotes (or in a text block) stays a text even where the new value
 * is a number or a boolean.
 */
function inStyleOf(scalar: ScalarNode, old: ScalarNode | undefined): ScalarNode {
  if (!old || scalar.value === null) return scalar
  const { style: _, quoted: __, indent: ___, ...plain } = scalar
  if (old.style) return { type: 'scalar', value: writtenText(scalar), origin: scalar.origin, style: old.style }
  if (old.quoted) return { type: 'scalar', value: writtenText(scalar), origin: scalar.origin, quoted: true }
  return plain
}

/** Whether there is nothing: no cell, or null. */
export function isMissing(cell: Cell | undefined): cell is undefined {
  return cell === undefined || cell.scalar?.value === null
}

/** Whether a cell is missing or a map without fields. */
export function isEmptyMap(cell: Cell | undefined): cell is undefined {
  return isMissing(cell) || (cell.type === 'map' && cell.fields.size === 0)
}

/** Text of a scalar as it was written; '' for anything else. */
export function cellText(cell: Cell | undefined): string {
  return cell?.scalar ? writtenText(cell.scalar) : ''
}

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

type Directive = 'merge' | 'replace' | 'delete'

const KEY = '$patch'

/**
 * What a part of a patch directs for the part of the object; the patch loses the directive. Throws `kustomize-invalid`
 * for an unknown one (kyaml/yaml/merge2/smpdirective.go).
 */
export function takeDirective(patch: Cell | undefined): Directive {
  if (!patch) return 'merge'
  if (patch.type === 'list') return takeListDirective(patch)
  const value = patch.fields.get(KEY)?.value
  if (!value) return 'merge'
  const directive = directiveOf(value)
  patch.fields.delete(KEY)
  return directive
}

/** The same, but an unknown directive stays and means nothing: kyaml does not ask for an error there. */
export function takeKnownDirective(patch: Cell | undefined): Directive | undefined {
  const value = patch?.fields.get(KEY)?.value
  return value && !isDirective(cellText(value)) ? undefined : takeDirective(patch)
}

/** The first element of a list with `$patch` counts for the list if it holds nothing else. */
function takeListDirective(patch: Cell): Directive {
  const element = patch.items.find(item => item.fields.has(KEY))
  if (!element || element.fields.size > 1) return 'merge'
  const directive = directiveOf(element.fields.get(KEY)!.value)
  setElement(patch, undefined, [KEY], [directive])
  return directive
}

const isDirective = (text: string): text is Directive => text === 'merge' || text === 'replace' || text === 'delete'

function directiveOf(value: Cell): Directive {
  const text = cellText(value)
  if (isDirective(text)) return text
  throw new BailiwickError('kustomize-invalid', `$patch: unknown directive ${JSON.stringify(text)}`, {
    origin: value.origin,
    fix: 'Use `merge`, `replace` or `delete`.',
  })
}
