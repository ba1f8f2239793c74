import { at, canonical } from '../node.ts'
import { groupOf, idOf, type KubeObject } from '../object.ts'
import { textMapOf } from '../read-text.ts'
import type { Authorizer } from './authorizer.ts'
import { type Binding, RBAC_GROUP, type Role } from './binding.ts'
import { uncovered } from './covers.ts'
import { MASTERS } from './groups-of.ts'
import { compactString, type PolicyRule, quote, quoteList } from './policy-rule.ts'
import { readBinding } from './read-binding.ts'
import { readRole } from './read-role.ts'
import { aggregated, type UserInfo } from './request.ts'

/** Why the API server refuses a role or binding although its author may write that kind. */
export interface WriteRefusal {
  /**
   * `escalation`: more than the author holds; `missing-role`: no such role yet; `immutable`: another role than the standing
   * binding's, which only a new object can have; `invalid`: not a role or binding at all.
   */
  readonly reason: 'escalation' | 'missing-role' | 'immutable' | 'invalid'
  /** The API server's own words; '' for `invalid`. */
  readonly message: string
  /** The rights that the author lacks. */
  readonly missing: readonly PolicyRule[]
}

const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

/**
 * What the API server checks beyond authorization when a user applies a Role, ClusterRole, RoleBinding or ClusterRoleBinding:
 * nobody grants what they do not hold, but by the verbs `escalate` and `bind` (policybased storage of k8s.io/kubernetes
 * pkg/registry/rbac). Undefined: allowed, or another kind. Whether the user may write it at all is `authorize`'s answer.
 */
export function confirmWrite(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  before?: KubeObject,
): WriteRefusal | undefined {
  const { apiVersion, kind } = idOf(object)
  if (groupOf(apiVersion) !== RBAC_GROUP) return undefined
  const check = kind.endsWith('Binding') ? confirmBinding : confirmRole
  if (!['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'].includes(kind)) return undefined
  return check(authorizer, user, object, before)
}

function confirmRole(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  before: KubeObject | undefined,
): WriteRefusal | undefined {
  const role = readRole(object)
  if (!role) return INVALID
  if (user.groups.includes(MASTERS)) return undefined
  const { namespace, name } = role
  const resource = role.kind === 'Role' ? 'roles' : 'clusterroles'
  if (authorizer.allows(user, { verb: 'escalate', apiGroup: RBAC_GROUP, resource, namespace, name })) return undefined
  if (before && isUnchanged(object, before) && standsAsWritten(authorizer, role, object)) return undefined
  const place = { resource, name, namespace }
  const refusal = confirmRules(authorizer, user, role.rules, place)
  if (refusal) return refusal
  if (!role.selectors && !(before && readRole(before)?.selectors)) return undefined
  const { missing } = confirmRules(authorizer, user, FULL_AUTHORITY, place) ?? {}
  const message = `${forbids(place)}: must have cluster-admin privileges to use the aggregationRule`
  return missing && { reason: 'escalation', message, missing }
}

function confirmBinding(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  before: KubeObject | undefined,
): WriteRefusal | undefined {
  const binding = readBinding(object)
  if (!binding) return INVALID
  if (before && isUnchanged(object, before)) return undefined
  return confirmGrant(authorizer, user, binding) ?? confirmSameRole(binding, before && readBinding(before))
}

function confirmGrant(authorizer: Authorizer, user: UserInfo, binding: Binding): WriteRefusal | undefined {
  if (user.groups.includes(MASTERS)) return undefined
  const { namespace, roleRef } = binding
  const roles = roleRef.kind === 'Role' ? 'roles' : 'clusterroles'
  const bind = { verb: 'bind', apiGroup: RBAC_GROUP, resource: roles, namespace, name: roleRef.name }
  if (authorizer.allows(user, bind)) return undefined
  const rules = authorizer.rulesOf(roleRef, namespace)
  const resource = binding.kind === 'RoleBinding' ? 'rolebindings' : 'clusterrolebindings'
  if (!rules) return { reason: 'missing-role', message: notFound(resource, binding), missing: [] }
  return confirmRules(authorizer, user, rules, { resource, name: binding.name, namespace })
}

function confirmSameRole({ kind, name, roleRef }: Binding, before: Binding | undefined): WriteRefusal | undefined {
  if (!before || (before.roleRef.kind === roleRef.kind && before.roleRef.name === roleRef.name)) return undefined
  const value = `{"APIGroup":"${RBAC_GROUP}","Kind":"${roleRef.kind}","Name":${JSON.stringify(roleRef.name)}}`
  const message = `${kind}.${RBAC_GROUP} ${quote(name)} is invalid: roleRef: Invalid value: ${value}: cannot change roleRef`
  return { reason: 'immutable', message, missing: [] }
}

interface Place {
  readonly resource: string
  readonly name: string
  readonly namespace: string
}

const INVALID: WriteRefusal = { reason: 'invalid', message: '', missing: [] }

function forbids({ resource, name }: Place): string {
  return `${resource}.${RBAC_GROUP} ${quote(name)} is forbidden`
}

/** The storage says what is written, not what is missing, where it does not find the role of a binding. */
function notFound(resource: string, { roleRef }: Binding): string {
  return `${resource}.${RBAC_GROUP} ${quote(roleRef.name)} not found`
}

/** ConfirmNoEscalation of k8s.io/kubernetes pkg/registry/rbac/validation. */
function confirmRules(
  authorizer: Authorizer,
  user: UserInfo,
  rules: readonly PolicyRule[],
  place: Place,
): WriteRefusal | undefined {
  const { grants, unresolved } = authorizer.held(user, place.namespace)
  const held = grants.map(grant => grant.rule)
  const missing = uncovered(held, rules)
  if (missing.length === 0) return undefined
  const lines = [...new Set(missing.map(compactString))].sort()
  const who = `user ${quote(user.name)} (groups=${quoteList(user.groups)})`
  const notes =
    unresolved.length > 0
      ? `; resolution errors: [${aggregated(unresolved.map(one => notFound(place.resource, one)))}]`
      : ''
  const message = `${forbids(place)}: ${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${notes}`
  return { reason: 'escalation', message, missing }
}

/** Rules that the controller has filled in are changed by writing the field again, even as an empty list. */
function standsAsWritten(
  authorizer: Authorizer,
  { kind, name, namespace, selectors, rules }: Role,
  { root }: KubeObject,
): boolean {
  if (!selectors || !root.fields.has('rules')) return true
  const sorted = (list: readonly PolicyRule[]) => JSON.stringify(list.map(rule => JSON.stringify(rule)).sort())
  return sorted(authorizer.rulesOf({ kind, name }, namespace) ?? []) === sorted(rules)
}

/** Whether nothing but owner references and finalizers differs (IsOnlyMutatingGCFields): an empty list is an absent one. */
function isUnchanged(object: KubeObject, before: KubeObject): boolean {
  return meaningOf(object) === meaningOf(before)
}

function meaningOf(object: KubeObject): string {
  const role = readRole(object)
  const texts = (field: string) => [...(textMapOf(at(object.root, ['metadata', field])) ?? [])].sort()
  const aggregation = role?.selectors && canonical(at(object.root, ['aggregationRule'])!)
  return JSON.stringify([role?.rules ?? readBinding(object), aggregation, texts('labels'), texts('annotations')])
}
