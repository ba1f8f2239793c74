import { isAbsent, withValueAt } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node } from '../../kube/node.ts'
import type { Origin } from '../../origin.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { FieldSpec } from '../model/field-spec.ts'
import { type Copies, editField } from '../resource/field-spec.ts'
import type { Resource } from '../resource/resource.ts'

const ANNOTATIONS = ['metadata', 'annotations']

/**
 * `editField` on an object. Where kustomize keeps notes of its own about the object, among the annotations, those are
 * there though nobody wrote one. Throws what `editField` throws.
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
  const copies: Copies = new Set()
  let root = resource.root
  for (const spec of specs) {
    const noted = withNotes(resource, root, spec, origin)
    root = editField(noted, spec, origin, (node, at) => edit(node, spec, at), budget, copies)
  }
  resource.overwrite(root)
}

function withNotes(resource: Resource, root: MapNode, spec: FieldSpec, origin: Origin): MapNode {
  const mayMeet = resource.hasNotes && spec.path.includes('annotations')
  if (!mayMeet || !isAbsent(at(root, ANNOTATIONS))) return root
  return withValueAt(root, ANNOTATIONS, { type: 'map', fields: new Map(), origin })
}
