import { BailiwickError } from '../../errors.ts'
import { isAbsent, withField } from '../../kube/edit-node.ts'
import type { ListNode, MapNode, Node } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { ResourceId } from '../resource/resource.ts'

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

/**
 * Applies `edit` to every value at the path of a spec; lists on the way are entered. `origin` is where created maps are
 * said to be written; `edit` gets no node where it is to create one. Throws `kustomize-invalid` where the path meets a
 * text, or where it asks for an element of a list (api/filters/fieldspec, 5.8.1).
 */
export function editField(root: MapNode, spec: FieldSpec, origin: Origin, edit: Edit, budget?: BuildBudget): MapNode {
  return editPath(root, partsOf(spec), { spec, origin, edit, budget }) as MapNode
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

interface Task {
  readonly spec: FieldSpec
  readonly origin: Origin
  readonly edit: Edit
  readonly budget: BuildBudget | undefined
}

function editPath(node: Node, path: readonly string[], task: Task): Node {
  if (path.length === 0) return task.edit(node, node.origin)
  if (isAbsent(node)) return node
  if (node.type === 'list') return editElements(node, path, task)
  if (node.type === 'map') return editMap(node, path, task)
  return fail(task, `${path.join('/')} is looked for in a text`, node.origin)
}

function editElements(list: ListNode, path: readonly string[], task: Task): Node {
  task.budget?.spend('steps', list.items.length, task.origin)
  const items = list.items.map(item => editPath(item, path, task))
  return items.some((item, index) => item !== list.items[index]) ? { ...list, items } : list
}

function editMap(map: MapNode, [part, ...rest]: readonly string[], task: Task): Node {
  const { origin, edit, spec } = task
  const isList = part!.endsWith('[]')
  const name = fieldName(isList ? part!.slice(0, -2) : part!, map, task)
  const creates = spec.create === true && !isList
  const field = map.fields.get(name)
  if (!field && !creates) return map
  const missing = !field || (isAbsent(field.value) && (creates || isList))
  let value: Node
  if (!missing) value = editPath(field.value, rest, task)
  // a null that should be a list becomes an empty one, whether or not anything is set in it
  else if (isList) value = editPath({ type: 'list', items: [], origin: field!.value.origin }, rest, task)
  else if (rest.length === 0) value = edit(undefined, origin)
  else value = editPath({ type: 'map', fields: new Map(), origin }, rest, task)
  if (value === field?.value) return map
  task.budget?.spend('steps', map.fields.size >> 3, origin)
  return withField(map, name, value, field?.key ?? origin)
}

/** Some names are no fields for kyaml's path getter; with those it fails in a map. */
function fieldName(name: string, map: MapNode, task: Task): string {
  const trimmed = name.trim()
  if (name === '') return fail(task, 'an empty field name', map.origin)
  if (/^[-+]?\d+$|^[-*]$|^\[.*\]$/.test(trimmed)) return fail(task, `${trimmed} is no field of a map`, map.origin)
  if (trimmed !== '') return trimmed
  throw new BailiwickError('kustomize-unsupported', `a blank part in the path ${task.spec.path}`, {
    origin: task.origin,
  })
}

const PARTS = new WeakMap<FieldSpec, readonly string[]>()

/** A spec is used for many objects. */
function partsOf(spec: FieldSpec): readonly string[] {
  const known = PARTS.get(spec)
  if (known) return known
  const parts = splitPath(spec.path)
  PARTS.set(spec, parts)
  return parts
}

/** The parts of a path: `/` separates, `\/` does not, and one at the start says nothing. */
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

function fail(task: Task, message: string, origin: Origin): never {
  throw new BailiwickError('kustomize-invalid', `${task.spec.path}: ${message}`, { origin })
}
