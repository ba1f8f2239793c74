import type { Binding, RoleRef } from './binding.ts'
import { type BoundSubject, RBAC_GROUP } from './binding.ts'
import type { BindingStore, BoundTo } from './binding-store.ts'
import { type PolicyRule, quote } from './policy-rule.ts'
import { type AccessRequest, forbidden, type UserInfo } from './request.ts'
import type { RoleStore } from './role-store.ts'
import { ruleAllows } from './rule-allows.ts'

/** One rule that a user holds: through which binding, as which of its subjects. The role is `binding.roleRef`. */
export interface Grant {
  readonly binding: Binding
  readonly subject: BoundSubject
  readonly rule: PolicyRule
}

type Decision =
  | { readonly allowed: true; readonly grant: Grant }
  | {
      readonly allowed: false
      /** The API server's own words, as `configmaps "a" is forbidden: User "u" cannot get resource "configmaps" ...`. */
      readonly message: string
      /** Bindings of this user whose role is not among the objects: what they would allow is not known. */
      readonly unresolved: readonly Binding[]
    }

/** What a user holds in a namespace: rules from ClusterRoleBindings first, then from its RoleBindings. */
interface Holding {
  readonly grants: readonly Grant[]
  /** What rules without names allow: by verb, group, resource and subresource. */
  readonly kept: Map<string, boolean>
  readonly unresolved: readonly Binding[]
}

/**
 * The RBAC authorizer of one cluster: the same answers as the API server's own (k8s.io/kubernetes
 * plugin/pkg/auth/authorizer/rbac) for the roles and bindings that it was made of. A binding whose role is not there grants
 * nothing, and is said. It never throws, and its answers do not change.
 */
export class Authorizer {
  readonly bindings: BindingStore
  readonly #roles: RoleStore
  readonly #held = new Map<string, Holding>()
  readonly #grants = new Map<BoundTo, readonly Grant[]>()

  constructor(roles: RoleStore, bindings: BindingStore) {
    this.#roles = roles
    this.bindings = bindings
  }

  /** Whether a user may do something, through which grant, or the refusal. */
  authorize(user: UserInfo, request: AccessRequest): Decision {
    const namespace = 'nonResourceURL' in request ? '' : (request.namespace ?? '')
    const { grants, unresolved } = this.held(user, namespace)
    const grant = grants.find(({ rule }) => ruleAllows(rule, request))
    if (grant) return { allowed: true, grant }
    return { allowed: false, message: forbidden(user, request, unresolved.map(notFound)), unresolved }
  }

  /** Short for authorize(...).allowed. Rules without names answer for every object of a kind: that is kept. */
  allows(user: UserInfo, request: AccessRequest): boolean {
    if ('nonResourceURL' in request) return this.authorize(user, request).allowed
    const { verb, apiGroup, resource, subresource = '', namespace = '' } = request
    const { grants, kept } = this.held(user, namespace)
    const key = `${verb} ${apiGroup}/${resource}/${subresource}`
    let allowed = kept.get(key)
    if (allowed === undefined) {
      allowed = grants.some(({ rule }) => rule.resourceNames.length === 0 && ruleAllows(rule, request))
      kept.set(key, allowed)
    }
    return allowed || grants.some(({ rule }) => rule.resourceNames.length > 0 && ruleAllows(rule, request))
  }

  /** Everything that a user holds in a namespace ('': cluster-wide only). */
  held(user: UserInfo, namespace: string): Holding {
    const key = [namespace, user.name, ...user.groups].join('\0')
    const known = this.#held.get(key)
    if (known) return known
    const bound = [...this.bindings.of(user, ''), ...(namespace ? this.bindings.of(user, namespace) : [])]
    const unresolved: Binding[] = []
    const grants = bound.flatMap(one => {
      const found = this.#grantsOf(one)
      if (!found) unresolved.push(one.binding)
      return found ?? []
    })
    const holding = { grants, unresolved, kept: new Map() }
    this.#held.set(key, holding)
    return holding
  }

  /** What one binding gives to one of its subjects: the same for everybody whom it stands for. */
  #grantsOf(bound: BoundTo): readonly Grant[] | undefined {
    const known = this.#grants.get(bound)
    if (known) return known
    const { binding } = bound
    const grants = this.rulesOf(binding.roleRef, binding.namespace)?.map(rule => ({ ...bound, rule }))
    if (grants) this.#grants.set(bound, grants)
    return grants
  }

  /** The role that a binding was probably meant to name; undefined where its role is found, or where nothing is like it. */
  meantRole({ roleRef, namespace }: Binding): string | undefined {
    return this.rulesOf(roleRef, namespace) ? undefined : this.#roles.meant(roleRef, namespace)
  }

  /** Whether the rules of such a role are gathered from others. */
  isAggregated(roleRef: RoleRef, namespace: string): boolean {
    return this.#roles.isAggregated(roleRef, namespace)
  }

  /** The rules of the role that a binding in `namespace` ('' for a ClusterRoleBinding) refers to; undefined: no such role. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.rulesOf(roleRef, namespace)
  }
}

function notFound({ roleRef }: Binding): string {
  return `${roleRef.kind.toLowerCase()}.${RBAC_GROUP} ${quote(roleRef.name)} not found`
}
