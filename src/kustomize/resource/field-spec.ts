import { BailiwickError } from '../../errors.ts'
import { fieldLike, isAbsent } from '../../kube/edit-node.ts'
import type { Field, ListNode, MapNode, Node } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { type FieldPath, fieldPathOf } from './field-path.ts'
import type { ResourceId } from './resource.ts'

type Edit = (node: Node | undefined, origin: Origin) => Node

/** Maps that were copied already, so that nobody else has them: several edits of one object may change them in place. */
export type Copies = Set<ReadonlyMap<string, Field>>

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
 * Applies `edit` to every value at the path of a spec; lists on the way are entered. `origin` is where created maps are
 * said to be written; `edit` gets no node where it is to create one. Throws `kustomize-invalid` where the path meets a
 * text, or where it asks for an element of a list (api/filters/fieldspec, 5.8.1).
 */
export function editField(
  root: MapNode,
  spec: FieldSpec,
  origin: Origin,
  edit: Edit,
  budget?: BuildBudget,
  copies: Copies = new Set(),
): MapNode {
  return editPath(root, 0, { spec, path: fieldPathOf(spec), origin, edit, budget, copies }) as MapNode
}

interface Task {
  readonly spec: FieldSpec
  readonly path: FieldPath
  readonly origin: Origin
  readonly edit: Edit
  readonly budget: BuildBudget | undefined
  readonly copies: Copies
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
  return value === field?.value ? map : withValue(map, name, fieldLike(field, field?.key ?? task.origin, value), task)
}

function created(field: Field | undefined, depth: number, isList: boolean, task: Task): Node {
  const { origin, path } = task
  // a null that should be a list becomes an empty one, whether or not anything is set in it
  if (isList) return editPath({ type: 'list', items: [], origin: field!.value.origin }, depth, task)
  if (depth === path.length) return task.edit(undefined, origin)
  const fields = new Map<string, Field>()
  task.copies.add(fields)
  return editPath({ type: 'map', fields, origin }, depth, task)
}

function withValue(map: MapNode, name: string, field: Field, { budget, copies, origin }: Task): MapNode {
  if (copies.has(map.fields)) {
    const own = map.fields as Map<string, Field>
    own.set(name, field)
    return map
  }
  budget?.spend('steps', map.fields.size >> 3, origin)
  const fields = new Map(map.fields)
  fields.set(name, field)
  copies.add(fields)
  return { ...map, fields }
}

function unsupported({ spec, origin }: Task): BailiwickError {
  return new BailiwickError('kustomize-unsupported', `${spec.path}: the path has a blank part`, { origin })
}

function fail(task: Task, message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', `${task.spec.path}: ${message}`, { origin })
}
