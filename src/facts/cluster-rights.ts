import type { Cluster } from '../fleet/model/fleet.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { authorizerOf } from '../kube/rbac/authorizer-of.ts'
import { type Binding, displayRbac, RBAC_GROUP, type RoleRef } from '../kube/rbac/binding.ts'
import { confirmWrite, type WriteRefusal } from '../kube/rbac/confirm-write.ts'
import { accountOf, userInfo } from '../kube/rbac/groups-of.ts'
import type { PolicyRule } from '../kube/rbac/policy-rule.ts'
import { assumedRbac } from './assumed-rbac.ts'
import { capsuleRbac } from './capsule-rbac.ts'
import { excessAggregation } from './excess-aggregation.ts'
import { excessRights, type RightsHolder, rulesText } from './excess-rights.ts'
import type { Rendered } from './object-table.ts'

/** What someone holds by one binding where it should hold nothing. */
export interface ForeignRight {
  /** `ClusterRoleBinding x`, `RoleBinding ns/x`. */
  readonly binding: string
  /** It is a ClusterRoleBinding. */
  readonly clusterWide: boolean
  /** `ClusterRole cluster-admin`. */
  readonly role: string
  /** The rules that are too much, as text. */
  readonly rules: string
}

/**
 * What the roles and bindings of a cluster come to, with those that Capsule makes of the platform's Tenants and those that Flux
 * installs. `rendered`: the objects of a kind; `ofCapsule`: as capsuleNamespaces gives them.
 */
export function clusterRights(
  rendered: (kind: string) => readonly Rendered[],
  ofCapsule: ReadonlyMap<string, string>,
  cluster: Pick<Cluster, 'hub' | 'lockdown'> | undefined,
): ClusterRights {
  const all = (...kinds: readonly string[]) => kinds.flatMap(kind => rendered(`${RBAC_GROUP}/${kind}`))
  const excess = excessAggregation(all('ClusterRole'))
  const roles = all('Role', 'ClusterRole').filter(({ object }) => !excess.has(object))
  const platform = all('ClusterRole', 'ClusterRoleBinding').filter(({ node }) => node.tenant === undefined)
  const flux = assumedRbac(
    cluster,
    platform.map(({ object }) => object),
  )
  return new ClusterRights(roles, all('RoleBinding', 'ClusterRoleBinding'), capsuleRbac(rendered, ofCapsule), flux)
}

/** Who may do what on one cluster, as far as its roles and bindings are rendered. */
export class ClusterRights {
  /** Of everything that anybody renders. */
  readonly every: Authorizer
  /**
   * Without the bindings that tenants write: what a tenant held before it granted anything itself. By them alone its grants
   * are evaluated, or a binding would justify itself.
   */
  readonly given: Authorizer
  /** What Flux installs and the fleet does not render, of both. */
  readonly assumed: readonly KubeObject[]
  /** What Capsule and its addon make, as `display` writes it. */
  readonly capsule: ReadonlySet<string>
  readonly #objects: readonly KubeObject[]

  /** `capsule`: the bindings that Capsule makes of its Tenants; `flux`: what Flux installs. */
  constructor(
    roles: readonly Rendered[],
    bindings: readonly Rendered[],
    capsule: readonly KubeObject[],
    flux: readonly KubeObject[],
  ) {
    const objects = (all: readonly Rendered[]) => all.map(one => one.object)
    const made = [...capsule, ...flux]
    this.assumed = flux
    this.capsule = new Set(capsule.map(object => display(idOf(object))))
    this.#objects = [...objects(roles), ...objects(bindings), ...made]
    this.every = authorizerOf(this.#objects)
    const given = bindings.filter(({ node }) => node.tenant === undefined)
    this.given = authorizerOf([...objects(roles), ...objects(given), ...made])
  }

  /** The same without some roles and bindings, as `display` writes them. */
  without(names: ReadonlySet<string>): Authorizer {
    return authorizerOf(this.#objects.filter(object => !names.has(display(idOf(object)))))
  }

  /** The rules that a role stands for where a binding in `namespace` ('': a ClusterRoleBinding) names it. */
  rulesOf(role: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.every.rulesOf(role, namespace)
  }

  /**
   * Why the API server would not let a user write a Role or RoleBinding: undefined also for those of the whole cluster, which
   * are another rule's, and where it is not known what the user holds, because nothing in its namespace is bound to it by what is rendered, or by a role that nobody renders.
   */
  grantRefusal(user: string, object: KubeObject, namespace: string): WriteRefusal | undefined {
    const who = userInfo(user)
    if (namespace === '' || this.given.bindings.of(who, namespace).length === 0) return undefined
    const { unresolved } = this.given.held(who, namespace)
    if (unresolved.length > 0) return undefined
    const refusal = confirmWrite(this.given, who, object)
    return refusal?.reason === 'escalation' ? refusal : undefined
  }

  /**
   * The first binding by which an account may do more than act in the namespaces of its tenant, those of everybody and of
   * roles that nobody renders included; as text for a message.
   */
  reachOutside(user: string, holder: RightsHolder): string | undefined {
    const who = userInfo(user)
    const places = this.given.bindings.namespacesOf(who).filter(namespace => !holder.owns(namespace))
    for (const namespace of ['', ...places]) {
      for (const { binding } of this.given.bindings.of(who, namespace)) {
        const { kind, name, roleRef } = binding
        const rules = this.given.rulesOf(roleRef, binding.namespace)
        if (rules && excessRights(rules, this.#confined(binding, holder)).length === 0) continue
        const what = rules ? '' : ', a role that the fleet does not render'
        // whose the other namespace is stays with the platform
        const where = namespace === '' ? `${kind} ${name}` : 'a RoleBinding of another namespace'
        return `${where} gives it ${roleRef.kind} ${roleRef.name}${what}`
      }
    }
    return undefined
  }

  /**
   * What an account holds outside the namespaces of its tenant. What another tenant binds it to is that one's affair, or
   * any tenant could make others fail.
   */
  rightsOutside(user: string, holder: RightsHolder): ForeignRight[] {
    const who = userInfo(user)
    const own = accountOf(user)
    const places = this.given.bindings.namespacesOf(who).filter(namespace => !holder.owns(namespace))
    return ['', ...places].flatMap(namespace =>
      this.given.bindings.of(who, namespace).flatMap(({ binding, subject }) => {
        const everybody = subject.kind === 'Group' && subject.name !== `system:serviceaccounts:${own?.namespace}`
        const rules = this.given.rulesOf(binding.roleRef, binding.namespace)
        const excess = everybody || !rules ? [] : excessRights(rules, this.#confined(binding, holder))
        if (excess.length === 0) return []
        const { kind, name, roleRef } = binding
        const role = `${roleRef.kind} ${roleRef.name}`
        const shown = `${kind} ${namespace ? `${namespace}/` : ''}${name}`
        return [{ binding: shown, clusterWide: namespace === '', role, rules: rulesText(excess) }]
      }),
    )
  }

  /** Whom Capsule binds, its admission confines, whether they own a Tenant or not. */
  #confined(binding: Binding, holder: RightsHolder): RightsHolder {
    return this.capsule.has(displayRbac(binding)) ? { ...holder, ofCapsule: true } : holder
  }
}
