import { BailiwickError } from '../../errors.ts'
import { isAbsent, withField } from '../../kube/edit-node.ts'
import type { MapNode, Node } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
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
 * said to be written. Throws `kustomize-invalid` where the path meets a text.
 */
export function editField(root: MapNode, spec: FieldSpec, origin: Origin, edit: Edit): MapNode {
  return editPath(root, splitPath(spec.path), spec.create ?? false, origin, edit) as MapNode
}

function editPath(node: Node, path: readonly string[], create: boolean, origin: Origin, edit: Edit): Node {
  const [part, ...rest] = path
  if (part === undefined) return edit(node, node.origin)
  if (node.type === 'list')
    return { ...node, items: node.items.map(item => editPath(item, path, create, origin, edit)) }
  if (isAbsent(node)) return node
  if (node.type !== 'map') {
    const message = `${path.join('/')} is looked for in a text`
    throw new BailiwickError('kustomize-invalid', message, { origin: node.origin })
  }
  const name = part.endsWith('[]') ? part.slice(0, -2) : part
  const creates = create && name === part
  const field = node.fields.get(name)
  const missing = field === undefined || (creates && isAbsent(field.value))
  if (missing && !creates) return node
  if (rest.length === 0) {
    return withField(node, name, edit(missing ? undefined : field!.value, origin), field?.key ?? origin)
  }
  const empty: MapNode = { type: 'map', fields: new Map(), origin }
  const child = missing ? empty : field!.value
  return withField(node, name, editPath(child, rest, create, origin, edit), field?.key ?? origin)
}

function splitPath(path: string): string[] {
  return path.split(/(?<!\\)\//).map(part => part.replaceAll('\\/', '/'))
}
