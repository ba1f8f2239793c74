import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { canonical, fieldLike, isAbsent, type ListNode, type MapNode, type Node, withElement } from '../../kube/node.ts'
import { type BuildBudget, checkObjectSize } from '../build-budget.ts'
import { MapEdits } from '../resource/map-edits.ts'
import { refuseUnknown } from '../resource/resource.ts'

/**
 * `root` under the operations of a JSON6902 patch, as evanphx/json-patch v4 applies them for kustomize: it does not ask
 * whether a field to replace or to copy is there, and knows negative indices. Throws `kustomize-invalid` where an
 * operation is none or does not find its place.
 */
export function applyJsonPatch(root: MapNode, operations: readonly JsonPatchOperation[], budget: BuildBudget): MapNode {
  const [first] = operations
  if (!first) return root
  const edits = new MapEdits(steps => budget.spend('steps', steps, first.origin))
  let result: Node = root
  for (const operation of operations) {
    const { origin } = operation
    const op = textOf(operation, 'op')
    if (op === 'test' || op === 'copy') budget.spendOn(result, origin)
    result = apply(result, operation, { origin, edits, budget })
    if (op !== 'copy') continue
    checkObjectSize(result, origin)
    edits.release()
  }
  return result.type === 'map' ? result : fail('patch: replaces the object with a list', result.origin)
}

/** How one operation edits an object. */
interface Change {
  readonly origin: Origin
  readonly edits: MapEdits
  readonly budget: BuildBudget
}

function apply(root: Node, operation: JsonPatchOperation, how: Change): Node {
  const { origin } = operation
  const op = textOf(operation, 'op')
  const value = operation.fields.get('value')
  if (op === 'remove') return change(root, pathOf(operation), how, remove)
  if (op === 'add') {
    return change(root, pathOf(operation), how, (node, key) => add(node, key, value ?? nothing(origin), how))
  }
  if (op === 'replace') return replaceAt(root, operation, value, how)
  if (op === 'test') return test(root, operation, value)
  if (op !== 'move' && op !== 'copy') return fail(`patch: unknown operation ${JSON.stringify(op ?? '')}`, origin)
  const from = partsOf(textOf(operation, 'from') ?? fail(`patch: ${op} without from`, origin), origin)
  refuseNotes(from, origin)
  const source = lookup(root, from, origin)
  refuseUnknown(source, origin)
  const rest = op === 'move' ? change(root, from, how, remove) : root
  return change(rest, pathOf(operation), how, (node, key) => add(node, key, source ?? nothing(origin), how))
}

const nothing = (origin: Origin): Node => ({ type: 'scalar', value: null, origin })

function textOf({ fields }: JsonPatchOperation, name: string): string | undefined {
  const node = fields.get(name)
  return node?.type === 'scalar' && typeof node.value === 'string' ? node.value : undefined
}

const pathOf = (operation: JsonPatchOperation): string[] =>
  partsOf(textOf(operation, 'path') ?? fail('patch: an operation has no path', operation.origin), operation.origin)

/** What stands before the first slash has no effect. */
function partsOf(path: string, origin: Origin): string[] {
  const parts = path.split('/').slice(1)
  if (parts.length === 0)
    fail(`patch: ${JSON.stringify(path)} is not a JSON pointer. It must start with a slash`, origin)
  return parts.map(part => part.replace(/~[01]/g, code => (code === '~1' ? '/' : '~')))
}

function replaceAt(root: Node, operation: JsonPatchOperation, value: Node | undefined, how: Change): Node {
  const { origin } = operation
  if (textOf(operation, 'path') === '') {
    return value && value.type !== 'scalar'
      ? value
      : fail('patch: replaces the object with something that is not an object', origin)
  }
  return change(root, pathOf(operation), how, (node, key) => replace(node, key, value ?? nothing(origin), how))
}

function test(root: Node, operation: JsonPatchOperation, value: Node | undefined): Node {
  const { origin, json } = operation
  if (json && value) refuseAsWritten(value)
  const path = textOf(operation, 'path') === '' ? [] : pathOf(operation)
  refuseNotes(path, origin)
  const found = lookup(root, path, origin)
  refuseUnknown(found, origin)
  const equal = canonical(found ?? nothing(origin)) === canonical(value ?? nothing(origin))
  return equal ? root : fail('patch: the test operation fails', origin)
}

/** What kustomize notes of an object for itself stands among its annotations, and would be copied or compared. */
function refuseNotes(path: readonly string[], origin: Origin): void {
  if (path.length > 0 && path.join('/') !== 'metadata' && path.join('/') !== 'metadata/annotations') return
  const message =
    'patch: copies all annotations of an object, including internal ones of kustomize, which is not supported'
  throw new BailiwickError('kustomize-unsupported', message, { origin, fix: 'Name the individual annotations.' })
}

/** The library compares JSON as it is written: `1.0` with `1`, and `<` with its escape. */
function refuseAsWritten(value: Node): void {
  if (/^[^<>&\u0080-\uffff\\]*$/.test(canonical(value)) && !hasFraction(value)) return
  const message = 'patch: the value of a test operation has more than one JSON spelling, which is not supported'
  throw new BailiwickError('kustomize-unsupported', message, { origin: value.origin, fix: 'Write the patch in YAML.' })
}

function hasFraction(node: Node): boolean {
  if (node.type === 'list') return node.items.some(hasFraction)
  if (node.type === 'map') return [...node.fields.values()].some(field => hasFraction(field.value))
  return typeof node.value === 'number' && !/^-?[0-9]+$/.test(node.text ?? String(node.value))
}

type Edit = (parent: MapNode | ListNode, key: string, how: Change) => Node

function change(node: Node, path: readonly string[], how: Change, edit: Edit): Node {
  const { origin } = how
  const [key, ...rest] = path as [string, ...string[]]
  if (node.type === 'scalar') return fail(`patch: the parent of ${JSON.stringify(key)} does not exist`, origin)
  if (node.type === 'list') how.budget.spend('steps', node.items.length >> 2, origin)
  if (rest.length === 0) return edit(node, key, how)
  if (node.type === 'map') {
    const field = node.fields.get(key)
    if (!field) return fail(`patch: the field ${JSON.stringify(key)} does not exist`, origin)
    const value = change(field.value, rest, how, edit)
    return value === field.value ? node : how.edits.set(node, key, fieldLike(field, field.key, value))
  }
  const index = existing(node, key, origin)
  return withElement(node, index, change(node.items[index]!, rest, how, edit))
}

function remove(parent: MapNode | ListNode, key: string, { origin, edits }: Change): Node {
  if (parent.type === 'map') {
    return parent.fields.has(key)
      ? edits.remove(parent, key, origin)
      : fail(`patch: the field ${JSON.stringify(key)} to remove does not exist`, origin)
  }
  const index = existing(parent, key, origin)
  return { ...parent, items: parent.items.toSpliced(index, 1) }
}

function add(parent: MapNode | ListNode, key: string, value: Node, { origin, edits }: Change): Node {
  if (parent.type === 'map') return edits.set(parent, key, fieldLike(parent.fields.get(key), origin, value))
  if (key === '-') return { ...parent, items: [...parent.items, value] }
  const index = indexOf(key, parent.items.length + 1, origin)
  return { ...parent, items: parent.items.toSpliced(index, 0, value) }
}

function replace(parent: MapNode | ListNode, key: string, value: Node, how: Change): Node {
  if (parent.type === 'map') return add(parent, key, value, how)
  return withElement(parent, existing(parent, key, how.origin), value)
}

/** The node at a path whose parent must be there; undefined for a field that is not. */
function lookup(root: Node, path: readonly string[], origin: Origin): Node | undefined {
  let here: Node | undefined = root
  for (const key of path) {
    if (here?.type === 'map') here = here.fields.get(key)?.value
    else if (here?.type === 'list') here = here.items[existing(here, key, origin)]
    else return fail(`patch: the parent of ${JSON.stringify(key)} does not exist`, origin)
  }
  return here
}

const existing = (list: ListNode, key: string, origin: Origin): number => indexOf(key, list.items.length, origin)

/** Position among `length` places, as Go reads a number; a negative one counts from the end. */
function indexOf(key: string, length: number, origin: Origin): number {
  const number = /^[-+]?[0-9]{1,9}$/.test(key) ? Number(key) : Number.NaN
  const index = number < 0 ? length + number : number
  return index >= 0 && index < length
    ? index
    : fail(`patch: ${JSON.stringify(key)} is not an index of the list`, origin)
}

function fail(message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', `JSON6902 patch: ${message}`, { origin })
}

/** One operation as it was written: whether it is one is asked when it is applied, and only then, as in kustomize. */
export interface JsonPatchOperation {
  readonly fields: ReadonlyMap<string, Node>
  readonly origin: Origin
  /** Written as JSON, where numbers and texts are compared as they stand. */
  readonly json: boolean
}

/** Words and numbers that YAML 1.1 (which kustomize reads these patches with) takes for something else than 1.2. */
const DIFFERS_IN_YAML_1_1 =
  /^(?:[yYnN]|[yY]es|YES|[nN]o|NO|[oO]n|ON|[oO]ff|OFF|=)$|^[-+]?0[oO]|^[0-9]{4}-[0-9]|^[-+.0-9].*_/s

/**
 * The operations of a JSON6902 patch. Throws `kustomize-invalid` for what is not a list of maps, and `yaml-ambiguous` where
 * YAML versions disagree on a value.
 */
export function readJsonPatch(list: ListNode, json: boolean): JsonPatchOperation[] {
  return list.items.map(node => {
    if (node.type !== 'map' && !isAbsent(node)) fail('patch: an operation is not a map', node.origin)
    const fields = new Map<string, Node>()
    if (node.type === 'map') for (const [name, { value }] of node.fields) fields.set(name, value)
    const value = fields.get('value')
    if (value && !json) checkVersion(value)
    return { fields, json, origin: fields.get('path')?.origin ?? node.origin }
  })
}

function checkVersion(node: Node): void {
  if (node.type === 'list') for (const item of node.items) checkVersion(item)
  if (node.type === 'map') {
    for (const [key, field] of node.fields) {
      if (DIFFERS_IN_YAML_1_1.test(key)) ambiguous(key, field.key)
      checkVersion(field.value)
    }
  }
  if (node.type !== 'scalar' || node.quoted || node.style || isAbsent(node)) return
  const text = node.text ?? String(node.value)
  if (DIFFERS_IN_YAML_1_1.test(text) && !/[A-Za-z]_|_[A-Za-z]/.test(text)) ambiguous(text, node.origin)
}

function ambiguous(text: string, origin: Origin): never {
  const message = `patch: ${JSON.stringify(text)} has another meaning in YAML 1.1, as which kustomize reads JSON6902 patches`
  throw new BailiwickError('yaml-ambiguous', message, { origin, fix: 'Quote the value, or write true or false.' })
}
