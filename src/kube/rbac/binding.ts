import type { LabelSelector } from '../label-selector.ts'
import type { PolicyRule } from './policy-rule.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'

/** A Role (with a namespace) or a ClusterRole (without). */
export interface Role {
  readonly kind: 'Role' | 'ClusterRole'
  readonly namespace: string
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly rules: readonly PolicyRule[]
  /** Of a ClusterRole with an aggregationRule: the controller replaces its rules by those of the roles selected. */
  readonly selectors?: readonly LabelSelector[]
}

export interface RoleRef {
  /** `Role` or `ClusterRole`. */
  readonly kind: string
  readonly name: string
}

export interface BoundSubject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount'
  readonly name: string
  /** Of an account: its namespace, in a RoleBinding that of the binding where none is written. */
  readonly namespace: string
}

/** A RoleBinding (with a namespace) or a ClusterRoleBinding (without). */
export interface Binding {
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding'
  readonly namespace: string
  readonly name: string
  readonly roleRef: RoleRef
  readonly subjects: readonly BoundSubject[]
}

/** `RoleBinding apps/dev-team`, `ClusterRole view`. */
export function displayRbac({
  kind,
  namespace,
  name,
}: {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}): string {
  return namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`
}
