import type { Subject } from '../../../facts/subject.ts'
import { at, itemsOf } from '../../../kube/node.ts'

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
  'capsule.clastix.io/ResourcePool',
  'capsule.clastix.io/CustomQuota',
  'capsule.clastix.io/GlobalCustomQuota',
  'capsule.clastix.io/GlobalResourceQuota',
])
export const WHOLE_KIND = 'kind'
const KYVERNO = new Set(['kyverno.io/ClusterPolicy', 'kyverno.io/Policy'])
const PARTS = ['mutate', 'generate', 'verifyImages']
const CAPSULE_TENANT = 'capsule.clastix.io/Tenant'
/** Parts of the rules of a Capsule Tenant (0.13 and later). */
const CAPSULE_PARTS = ['enforce', 'quota']
/** Quotas of custom kinds, as annotations of a Capsule Tenant. */
const CAPSULE_QUOTA = /^(quota|used)\.resources\.capsule\.clastix\.io\//

/** What of a policy is never evaluated, whatever object it is asked about: WHOLE_KIND, or parts of its rules. */
export function partsNotEvaluated({ kind, object }: Pick<Subject, 'kind' | 'object'>): readonly string[] {
  if (KINDS_NOT_EVALUATED.has(kind)) return [WHOLE_KIND]
  const isCapsule = kind === CAPSULE_TENANT
  if (!KYVERNO.has(kind) && !isCapsule) return []
  const items = itemsOf(at(object.root, ['spec', 'rules']))
  const parts = isCapsule ? CAPSULE_PARTS : PARTS
  const annotations = isCapsule ? at(object.root, ['metadata', 'annotations']) : undefined
  const quotas =
    annotations?.type === 'map' ? [...annotations.fields.keys()].filter(key => CAPSULE_QUOTA.test(key)) : []
  return [...parts.filter(part => items.some(rule => rule.type === 'map' && rule.fields.has(part))), ...quotas]
}
