import { authorizerOf } from '../kube/rbac/authorizer-of.ts'
import { covers } from '../kube/rbac/covers.ts'
import { accountOf } from '../kube/rbac/groups-of.ts'
import { compactString, type PolicyRule } from '../kube/rbac/policy-rule.ts'

/** Whose rights are looked at. */
export interface RightsHolder {
  /** Whether a namespace is one of the tenant's. */
  owns(namespace: string): boolean
  /** Whether Capsule confines what the tenant does with Namespaces. */
  readonly ofCapsule: boolean
}

/** What every account holds from the start. */
const EVERYBODY = authorizerOf([])
  .held({ name: '', groups: ['system:serviceaccounts', 'system:authenticated'] }, '')
  .grants.map(grant => grant.rule)

/** What the API server publishes to everybody as /openapi. */
const DEFINITIONS: PolicyRule = {
  apiGroups: ['apiextensions.k8s.io'],
  resources: ['customresourcedefinitions'],
  verbs: ['get', 'list', 'watch'],
  resourceNames: [],
  nonResourceURLs: [],
}

const NAMESPACE_VERBS = ['create', 'patch', 'get', 'list', 'watch']

/**
 * The rules that let a tenant out of its namespaces where they are held for the whole cluster or in a namespace of others.
 * Not among them: what everybody may do; to read definitions; to be an account of its own (Capsule's impersonator); and, for owners of a Capsule
 * Tenant, to make and patch Namespaces, which Capsule's admission confines to their own.
 */
export function excessRights(rules: readonly PolicyRule[], holder: RightsHolder): PolicyRule[] {
  return rules.filter(rule => !isHarmless(rule, holder))
}

function isHarmless(rule: PolicyRule, { owns, ofCapsule }: RightsHolder): boolean {
  if (covers([...EVERYBODY, DEFINITIONS], [rule])) return true
  if (rule.nonResourceURLs.length > 0 || rule.apiGroups.some(group => group !== '')) return false
  const only = (values: readonly string[], allowed: readonly string[]) => values.every(one => allowed.includes(one))
  if (only(rule.verbs, ['impersonate']) && only(rule.resources, ['users'])) {
    const own = (user: string) => owns(accountOf(user)?.namespace ?? '')
    return rule.resourceNames.length > 0 && rule.resourceNames.every(own)
  }
  return ofCapsule && only(rule.resources, ['namespaces']) && only(rule.verbs, NAMESPACE_VERBS)
}

/** Rules for a message or the identity of a violation: in a fixed order, whatever the order in the role. */
export function rulesText(rules: readonly PolicyRule[]): string {
  return [...new Set(rules.map(compactString))].sort().join(', ')
}
