import type { FleetIndex } from '../facts/fleet-index.ts'
import { isInstalledRbac, OPERATOR_BINDING } from '../flux/installed-rbac.ts'
import type { Grant } from '../kube/rbac/authorizer.ts'
import { type Binding, type BoundSubject, displayRbac, RBAC_GROUP } from '../kube/rbac/binding.ts'
import { compactString } from '../kube/rbac/policy-rule.ts'
import type { Origin } from '../origin.ts'

/** A grant in display form: binding, role and subject. */
export interface GrantView {
  /** `ServiceAccount apps/dev-team`, `User alice`, `Group ops`. */
  readonly subject: string
  /** `RoleBinding apps/dev-team`. */
  readonly binding: string
  /** `ClusterRole cluster-admin`. */
  readonly role: string
  /** It holds in every namespace. */
  readonly clusterWide: boolean
  /** Another grant of the same holder gives all of it there. */
  readonly covered: boolean
  readonly from: BindingSource
}

/** Where a binding comes from: a file of the fleet, a Capsule Tenant, Flux's own manifests, or the API server. */
export type BindingSource =
  | { readonly by: 'fleet'; readonly origin: Origin; readonly kustomization: string }
  | { readonly by: 'capsule' }
  /** Flux's own manifests, which the fleet does not hold. */
  | { readonly by: 'flux' }
  | { readonly by: 'kubernetes' }

/** Returns the grant in display form, with the origin of its binding. */
export function grantView(index: FleetIndex, cluster: string, grant: Omit<Grant, 'rule'>, covered = false): GrantView {
  const { binding, subject } = grant
  return {
    subject: displaySubject(subject),
    binding: displayRbac(binding),
    role: `${binding.roleRef.kind} ${binding.roleRef.name}`,
    clusterWide: binding.kind === 'ClusterRoleBinding',
    covered,
    from: sourceOf(index, cluster, binding),
  }
}

/** Formats the RBAC rule that allows a request. */
export function ruleText({ rule }: Pick<Grant, 'rule'>): string {
  return compactString(rule)
}

function displaySubject({ kind, namespace, name }: BoundSubject): string {
  return namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`
}

/** Who makes a binding: where several Kustomizations write it, the last one. */
function sourceOf(index: FleetIndex, cluster: string, binding: Binding): BindingSource {
  const { kind, namespace, name } = binding
  const written = index.versionsOf(cluster, `${RBAC_GROUP}/${kind}`, namespace, name).at(-1)
  if (written) return { by: 'fleet', origin: written.object.root.origin, kustomization: written.node.key }
  if (isInstalledRbac(kind, name) || name === OPERATOR_BINDING) return { by: 'flux' }
  return { by: index.isMadeByCapsule(cluster, displayRbac(binding)) ? 'capsule' : 'kubernetes' }
}
