import type { Subject } from '../../../facts/subject.ts'
import { at } from '../../../kube/node.ts'

/** Kinds of policies that no engine of ours evaluates, by `<group>/<Kind>`. */
export const KINDS_NOT_EVALUATED: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'policies.kyverno.io/DeletingPolicy',
  'policies.kyverno.io/NamespacedDeletingPolicy',
  'policies.kyverno.io/MutatingPolicy',
  'policies.kyverno.io/NamespacedMutatingPolicy',
  'policies.kyverno.io/GeneratingPolicy',
  'policies.kyverno.io/NamespacedGeneratingPolicy',
  'policies.kyverno.io/ImageValidatingPolicy',
  'policies.kyverno.io/NamespacedImageValidatingPolicy',
  'templates.gatekeeper.sh/ConstraintTemplate',
  'mutations.gatekeeper.sh/Assign',
  'mutations.gatekeeper.sh/AssignMetadata',
  'mutations.gatekeeper.sh/AssignImage',
  'mutations.gatekeeper.sh/ModifySet',
  'policies.kubewarden.io/ClusterAdmissionPolicy',
  'policies.kubewarden.io/ClusterAdmissionPolicyGroup',
  'policies.kubewarden.io/AdmissionPolicy',
  'policies.kubewarden.io/AdmissionPolicyGroup',
])
export const WHOLE_KIND = 'kind'
const KYVERNO = new Set(['kyverno.io/ClusterPolicy', 'kyverno.io/Policy'])
const PARTS = ['mutate', 'generate', 'verifyImages']

/** What of a policy is never evaluated, whatever object it is asked about: WHOLE_KIND, or parts of its rules. */
export function partsNotEvaluated({ kind, object }: Pick<Subject, 'kind' | 'object'>): readonly string[] {
  if (KINDS_NOT_EVALUATED.has(kind)) return [WHOLE_KIND]
  if (!KYVERNO.has(kind)) return []
  const rules = at(object.root, ['spec', 'rules'])
  if (rules?.type !== 'list') return []
  return PARTS.filter(part => rules.items.some(rule => rule.type === 'map' && rule.fields.has(part)))
}
