import { groupsThat, ROOT_NAMESPACE } from '../../flux/kinds.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { CAPSULE_GROUP } from '../tenancy/capsule.ts'

/** Groups whose every object restricts someone, says who acts, or what Flux may do. */
const GROUPS: ReadonlySet<string> = new Set([
  CAPSULE_GROUP,
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'kyverno.io',
  'policies.kyverno.io',
  'networking.k8s.io',
  'cilium.io',
  'crd.projectcalico.org',
  'projectcalico.org',
  'policy.networking.k8s.io',
  'templates.gatekeeper.sh',
  'constraints.gatekeeper.sh',
  ...groupsThat(row => row.applies ?? row.source ?? row.makesSources ?? row.configuresFlux),
])

/** The same of kinds whose group holds others besides, as `<group>/<Kind>`. */
const KINDS: ReadonlySet<string> = new Set([
  '/Namespace',
  '/ServiceAccount',
  '/ResourceQuota',
  '/LimitRange',
  'apiextensions.k8s.io/CustomResourceDefinition',
  'scheduling.k8s.io/PriorityClass',
])

/**
 * Whether an object may confine a tenant or say who acts for whom: where a build may show other fields of it than the
 * cluster has, the fields of the last complete build count as well.
 */
export function isRestricting(object: KubeObject): boolean {
  const { apiVersion, kind, namespace } = idOf(object)
  const group = groupOf(apiVersion)
  // the flags of Flux's controllers
  if (kind === 'Deployment') return namespace === ROOT_NAMESPACE
  return GROUPS.has(group) || KINDS.has(`${group}/${kind}`)
}
