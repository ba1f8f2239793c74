import { BailiwickError } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import {
  at,
  type Field,
  fieldLike,
  isAbsent,
  type ListNode,
  type MapNode,
  type Node,
  withValueAt,
} from '../../kube/node.ts'
import type { BuildBudget } from '../build-budget.ts'
import { MapEdits } from './map-edits.ts'
import type { Resource, ResourceId } from './resource.ts'

/** A place that a transformer writes to, for kinds of objects; absent parts match everything. */
export interface FieldSpec {
  readonly path: string
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  /** Make the maps and the field on the way when they are missing. */
  readonly create?: boolean
}

type Edit = (node: Node | undefined, origin: Origin) => Node

/** Whether a place is one of objects of this kind. */
export function specMatches(spec: FieldSpec, id: Pick<ResourceId, 'group' | 'version' | 'kind'>): boolean {
  if (spec.kind && spec.kind !== id.kind) return false
  if (spec.group && spec.group !== id.group) return false
  return !spec.version || spec.version === id.version
}

/** Those of `specs` that are for objects of this kind; asked again for the same kind, it knows. */
export function specsByKind(specs: readonly FieldSpec[]): (id: ResourceId) => readonly FieldSpec[] {
  const known = new Map<string, readonly FieldSpec[]>()
  return id => {
    const key = `${id.group}\0${id.version}\0${id.kind}`
    const matching = known.get(key) ?? specs.filter(spec => specMatches(spec, id))
    known.set(key, matching)
    return matching
  }
}

/**
 * Applies `edit` to every value at the path of a spec; lists on the way are entered. `origin` is the place of created
 * maps; `edit` gets no node where it is to create one. Throws `kustomize-invalid` where the path meets a text, or where
 * it asks for an element of a list (api/filters/fieldspec, 5.8.1).
 */
export function editField(
  root: MapNode,
  spec: FieldSpec,
  origin: Origin,
  edit: Edit,
  budget?: BuildBudget,
  edits = editsWith(budget, origin),
): MapNode {
  return editPath(root, 0, { spec, path: fieldPathOf(spec), origin, edit, budget, edits }) as MapNode
}

const editsWith = (budget: BuildBudget | undefined, origin: Origin) =>
  new MapEdits(steps => budget?.spend('steps', steps, origin))

interface Task {
  readonly spec: FieldSpec
  readonly path: FieldPath
  readonly origin: Origin
  readonly edit: Edit
  readonly budget: BuildBudget | undefined
  readonly edits: MapEdits
}

function editPath(node: Node, depth: number, task: Task): Node {
  if (depth === task.path.length) return task.edit(node, node.origin)
  if (isAbsent(node)) return node
  if (node.type === 'list') return editElements(node, depth, task)
  if (node.type === 'map') return editMap(node, depth, task)
  return fail(task, 'its parent is a string', node.origin)
}

function editElements(list: ListNode, depth: number, task: Task): Node {
  task.budget?.spend('steps', list.items.length, task.origin)
  let items: Node[] | undefined
  for (const [index, item] of list.items.entries()) {
    const edited = editPath(item, depth, task)
    if (edited === item) continue
    items ??= [...list.items]
    items[index] = edited
  }
  return items ? { ...list, items } : list
}

function editMap(map: MapNode, depth: number, task: Task): Node {
  const { name, isList, problem } = task.path[depth]!
  if (problem === 'blank') throw unsupported(task)
  if (problem) return fail(task, problem, map.origin)
  const creates = task.spec.create === true && !isList
  const field = map.fields.get(name)
  if (!field && !creates) return map
  const missing = !field || (isAbsent(field.value) && (creates || isList))
  const value = missing ? created(field, depth + 1, isList, task) : editPath(field.value, depth + 1, task)
  if (value === field?.value) return map
  return task.edits.set(map, name, fieldLike(field, field?.key ?? task.origin, value))
}

function created(field: Field | undefined, depth: number, isList: boolean, task: Task): Node {
  const { origin, path } = task
  // a null that should be a list becomes an empty one, whether or not anything is set in it
  if (isList) return editPath({ type: 'list', items: [], origin: field!.value.origin }, depth, task)
  if (depth === path.length) return task.edit(undefined, origin)
  return editPath(task.edits.created(origin), depth, task)
}

function unsupported({ spec, origin }: Task): BailiwickError {
  return new BailiwickError('kustomize-unsupported', `${spec.path}: the path has a blank part`, { origin })
}

function fail(task: Task, message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', `${task.spec.path}: ${message}`, { origin })
}

/** One part of a path of fields. */
interface FieldPart {
  readonly name: string
  /** Written with `[]`: what is there should be a list. */
  readonly isList: boolean
  /** Why no map has such a field. */
  readonly problem?: string
}

type FieldPath = readonly FieldPart[]

/** The parts of the path of a spec; a spec is used for many objects, so they are kept. */
export const fieldPathOf = oncePer((spec: { readonly path: string }): FieldPath => splitPath(spec.path).map(partOf))

/** Some names are no fields for kyaml's path getter (kyaml/yaml/fns.go); with those it fails in a map. */
function partOf(text: string): FieldPart {
  const isList = text.endsWith('[]')
  const written = isList ? text.slice(0, -2) : text
  const name = written.trim()
  if (written === '') return { name, isList, problem: 'has an empty field name' }
  if (name === '') return { name, isList, problem: 'blank' }
  if (/^[-+]?\d+$|^[-*]$|^\[.*\]$/.test(name)) return { name, isList, problem: `${name} is not a field of a map` }
  return { name, isList }
}

/** The parts of a path: `/` separates, `\/` does not, and one at the start has no effect. */
function splitPath(path: string): string[] {
  const parts = path.split('/')
  if (parts.length > 1 && parts[0] === '') parts.shift()
  const result: string[] = [parts[0]!]
  for (const part of parts.slice(1)) {
    const last = result.at(-1)!
    if (last.endsWith('\\')) result[result.length - 1] = `${last.slice(0, -1)}/${part}`
    else result.push(part)
  }
  return result
}

const ANNOTATIONS = ['metadata', 'annotations']

/**
 * `editField` on an object. Where kustomize keeps notes of its own about the object, among the annotations, those are
 * there though they are not in git. Throws what `editField` throws.
 */
export function editResource(
  resource: Resource,
  spec: FieldSpec,
  origin: Origin,
  edit: (node: Node | undefined, origin: Origin) => Node,
  budget?: BuildBudget,
): void {
  editPlaces(resource, [spec], origin, (node, _, at) => edit(node, at), budget)
}

/** The same for the places of several specs, one after the other. */
export function editPlaces(
  resource: Resource,
  specs: readonly FieldSpec[],
  origin: Origin,
  edit: (node: Node | undefined, spec: FieldSpec, origin: Origin) => Node,
  budget?: BuildBudget,
): void {
  const edits = editsWith(budget, origin)
  let root = resource.root
  for (const spec of specs) {
    const noted = withNotes(resource, root, spec, origin)
    root = editField(noted, spec, origin, (node, at) => edit(node, spec, at), budget, edits)
  }
  resource.overwrite(root)
}

function withNotes(resource: Resource, root: MapNode, spec: FieldSpec, origin: Origin): MapNode {
  const mayMeet = resource.hasNotes && spec.path.includes('annotations')
  if (!mayMeet || !isAbsent(at(root, ANNOTATIONS))) return root
  return withValueAt(root, ANNOTATIONS, { type: 'map', fields: new Map(), origin })
}
