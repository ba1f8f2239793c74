import { isAbsent, withValueAt } from '../../kube/edit-node.ts'
import { at, type MapNode, type Node } from '../../kube/node.ts'
import type { Origin } from '../../kube/origin.ts'
import type { BuildBudget } from '../build-budget.ts'
import type { Resource } from '../resource/resource.ts'
import { editField, type FieldSpec } from './field-spec.ts'

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
  resource.overwrite(editField(withNotes(resource, spec, origin), spec, origin, edit, budget))
}

function withNotes(resource: Resource, spec: FieldSpec, origin: Origin): MapNode {
  const { root } = resource
  const mayMeet = resource.hasNotes && /annotations/.test(spec.path)
  if (!mayMeet || !isAbsent(at(root, ANNOTATIONS))) return root
  return withValueAt(root, ANNOTATIONS, { type: 'map', fields: new Map(), origin })
}
