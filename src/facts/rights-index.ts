import type { FleetNode } from '../fleet/model/fleet.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { type Binding, RBAC_GROUP, type RoleRef } from '../kube/rbac/binding.ts'
import type { WriteRefusal } from '../kube/rbac/confirm-write.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import type { PolicyRule } from '../kube/rbac/policy-rule.ts'
import type { AccessRequest, ResourceRequest, UserInfo } from '../kube/rbac/request.ts'
import { applyRefusals, pruneRefusals, type RightRefusal } from './apply-refusals.ts'
import { type ClusterRights, clusterRights, type ForeignRight } from './cluster-rights.ts'
import { excessAggregation } from './excess-aggregation.ts'
import type { RightsHolder } from './excess-rights.ts'
import type { Facts } from './facts.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import { ObjectIndex } from './object-index.ts'
import { type TenantRights, tenantRights } from './tenant-rights.ts'
import { type OnlyUnapplied, type UnappliedGrant, unappliedGrants, unappliedText } from './unapplied-grants.ts'
import { type EarlierGrants, grantMakersOf, hasGrants, hasVisibleGrants, unseenGrants } from './unseen-grants.ts'

const NO_NAMES: readonly string[] = []
const NO_REFUSALS: readonly RightRefusal[] = []

/** Who may do what on the clusters of a fleet. Answers are recorded and compared, as all of FleetIndex. */
export abstract class RightsIndex extends ObjectIndex implements FleetAnswers {
  readonly #facts: Facts

  constructor(facts: Facts) {
    super(facts)
    this.#facts = facts
  }

  abstract aliases(): ReturnType<FleetAnswers['aliases']>
  abstract cluster(name: string): ReturnType<FleetAnswers['cluster']>
  abstract clusters(): readonly string[]
  abstract node(key: string | undefined): FleetNode | undefined
  abstract ownerOf(cluster: string, namespace: string): string | undefined
  abstract owns(cluster: string, tenant: string, namespace: string): boolean
  abstract namespacesOf(cluster: string, tenant: string): readonly string[]
  abstract capsuleHomes(cluster: string): ReadonlyMap<string, readonly string[]>
  abstract capsuleNamespaces(cluster: string): ReadonlyMap<string, string>
  abstract isCapsuleTenant(cluster: string, tenant: string): boolean
  abstract chartParts(node: string, release: KubeObject): ReturnType<FleetAnswers['chartParts']>

  /** Who may do what on a cluster: ask for one answer below where that is enough. */
  authorizer(cluster: string): Authorizer {
    return this.#rights(cluster).every
  }

  /** The roles and bindings of Flux that it takes for granted, because the fleet does not render them. */
  assumedRbac(cluster: string): readonly KubeObject[] {
    return this.#rights(cluster).assumed
  }

  /** Whether Capsule or its addon makes a role or binding, as `display` writes it. */
  isMadeByCapsule(cluster: string, shown: string): boolean {
    return this.#rights(cluster).capsule.has(shown)
  }

  /** The rules that a role stands for where a binding in `namespace` ('': a ClusterRoleBinding) names it. */
  roleRules(cluster: string, role: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#rights(cluster).rulesOf(role, namespace)
  }

  /** Whether an aggregated ClusterRole of a tenant is more than is worked out of that tenant's: nobody knows what it holds. */
  isExcessAggregation(cluster: string, role: KubeObject): boolean {
    const work = () => excessAggregation(this.renderedAnywhere(cluster, `${RBAC_GROUP}/ClusterRole`))
    return this.#facts.memo(`excess aggregation ${cluster}`, work).has(role)
  }

  /** Why the API server would refuse that the account of a node writes a Role or RoleBinding, as far as that is known. */
  grantRefusal(node: FleetNode, object: KubeObject): WriteRefusal | undefined {
    if (!node.identity.impersonated) return undefined
    return this.#rights(node.cluster).grantRefusal(node.identity.user, object, idOf(object).namespace)
  }

  /**
   * The requests of a node that its account is refused. `without`: roles and bindings that do not count, as `display` writes
   * them.
   */
  refusals(key: string, without: readonly string[] = NO_NAMES): readonly RightRefusal[] {
    return this.#facts.memo(`refusals ${key} ${without.join(', ')}`, () => {
      const node = this.node(key)
      // what only an earlier build had is a fact, and nothing that is applied
      if (!node?.identity.impersonated || this.#facts.objects(key).length === 0) return NO_REFUSALS
      const rights = this.#rights(node.cluster)
      const authorizer = without.length === 0 ? rights.every : this.#without(node.cluster, without)
      return applyRefusals(node, authorizer, this.customKinds(node.cluster), this.cluster(node.cluster)?.lockdown)
    })
  }

  #without(cluster: string, names: readonly string[]): Authorizer {
    const work = () => this.#rights(cluster).without(new Set(names))
    return this.#facts.memo(`rights ${cluster} without ${names.join(', ')}`, work)
  }

  /** The roles and bindings that a cluster's Flux does not apply. */
  unapplied(cluster: string): ReadonlyMap<string, UnappliedGrant> {
    return this.#facts.memo(`unapplied ${cluster}`, () => {
      const kinds = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding']
      const grants = kinds.flatMap(kind => this.renderedAnywhere(cluster, `${RBAC_GROUP}/${kind}`))
      const nodes = grants.length === 0 ? [] : this.#facts.nodes().filter(node => node.cluster === cluster)
      return unappliedGrants(grants, nodes, ({ node, object }, without) => {
        const why = `${node.identity.user} may not write it`
        if (this.grantRefusal(node, object)) return why
        const all = this.refusals(node.key, without).filter(
          one => one.object === object && one.without === 'not-applied',
        )
        const isRefused = all.some(one => this.unseenGrants(cluster, userInfo(one.user), one.request).length === 0)
        return isRefused ? why : undefined
      })
    })
  }

  /** Of a request that is allowed: what of that Flux does not apply, and the refusal without it; undefined: it is allowed all the same. */
  onlyUnapplied(cluster: string, user: UserInfo, request: AccessRequest): OnlyUnapplied | undefined {
    const unapplied = this.unapplied(cluster)
    if (unapplied.size === 0) return undefined
    const decision = this.#without(cluster, [...unapplied.keys()]).authorize(user, request)
    const reasons = [...unapplied].map(([name, { why }]) => unappliedText(name, why))
    return decision.allowed ? undefined : { message: decision.message, reasons }
  }

  /** The API server's words where it refuses the account of a node to apply an object. */
  applyRefusal(key: string, object: KubeObject): string | undefined {
    const all = this.#facts.memo(`refused objects ${key}`, () => {
      const deciding = this.refusals(key).filter(({ without }) => without === 'not-applied')
      // the first of each object is what Flux meets first
      return new Map(deciding.reverse().map(one => [one.object, one.message]))
    })
    return all.get(object)
  }

  /** The requests by which a node would prune an object and that its account is refused. */
  pruneRefusals(key: string, object: KubeObject): readonly RightRefusal[] {
    const node = this.node(key)
    if (!node?.identity.impersonated) return NO_REFUSALS
    return pruneRefusals(node, object, this.authorizer(node.cluster), this.customKinds(node.cluster))
  }

  /** The Kustomizations that wait for one, or that it makes. */
  followers(key: string): readonly { readonly key: string; readonly by: 'dependsOn' | 'parent' }[] {
    const all = this.#facts.memo('followers', () => {
      const edges = this.#facts
        .nodes()
        .flatMap(({ key: own, dependsOn, parent }) => [
          ...dependsOn.map(of => ({ of, key: own, by: 'dependsOn' as const })),
          ...(parent === undefined ? [] : [{ of: parent, key: own, by: 'parent' as const }]),
        ])
      return Map.groupBy(edges, ({ of }) => of)
    })
    return (all.get(key) ?? []).map(({ key: own, by }) => ({ key: own, by }))
  }

  /**
   * Whether a user applies objects of a resource in a namespace although no visible grant allows it: the cluster has grants
   * that are not visible.
   */
  appliesUnseen(cluster: string, user: string, request: ResourceRequest): boolean {
    const all = this.#facts.memo(`unseen ${cluster}`, () => {
      const nodes = this.#facts.nodes().filter(node => node.cluster === cluster && !node.suspend && !node.error)
      const unapplied = [...this.unapplied(cluster).keys()]
      const refused = nodes
        .flatMap(({ key }) => this.refusals(key, unapplied))
        .filter(one => one.without === 'not-applied')
      return new Set(refused.map(one => unseenKey(one.user, one.request)))
    })
    // by server-side apply an object that is there needs no `create`; one without a name is sent by Helm
    const isApplied = request.verb === 'create' && request.name !== ''
    return all.has(unseenKey(user, isApplied ? { ...request, verb: 'patch' } : request))
  }

  /** The API server's words where it refuses a request. */
  refusalOf(cluster: string, user: string, request: ResourceRequest): string | undefined {
    const decision = this.authorizer(cluster).authorize(userInfo(user), request)
    return decision.allowed ? undefined : decision.message
  }

  /** Why a request that no visible grant allows may be allowed all the same. `by`: the object for which it is sent. */
  unseenGrants(on: string, user: UserInfo, asked: ResourceRequest, was?: EarlierGrants, by?: KubeObject): string[] {
    const authorizer = this.authorizer(on)
    const made = by && `${idOf(by).kind}/${idOf(by).namespace}/${idOf(by).name}`
    const isMade = ({ namespace, name, source }: FleetNode) =>
      made === `Kustomization/${namespace}/${name}` || made === source.id
    const nodes = this.#facts.nodes().filter(node => node.cluster === on && !isMade(node))
    const all = () => this.#facts.memo(`grant makers ${on}`, () => grantMakersOf(this, on))
    // what a release or Kustomization creates is not there before it, and before its source
    const makers = () => all().filter(({ object }) => object !== by)
    return unseenGrants({ index: this, cluster: on, nodes, authorizer, makers }, user, asked, was ?? {})
  }

  /** Whether a visible binding on a cluster is about this user, not about everybody. */
  holdsRoles(cluster: string, user: string): boolean {
    return hasGrants(this.authorizer(cluster), userInfo(user))
  }

  /** Whether any account of a tenant has a visible grant on a cluster. */
  hasVisibleGrants(cluster: string): boolean {
    const nodes = this.#facts.nodes().filter(node => node.cluster === cluster)
    return hasVisibleGrants({ nodes, authorizer: this.authorizer(cluster) })
  }

  /** The role that a binding was probably meant to name, where nothing has the one that it names. */
  meantRole(cluster: string, binding: Binding): string | undefined {
    return this.authorizer(cluster).meantRole(binding)
  }

  /** The bindings of a user in a namespace and in the cluster. */
  bindingsOf(cluster: string, user: string, namespace: string): readonly Binding[] {
    const { bindings } = this.authorizer(cluster)
    const places = namespace === '' ? [''] : [namespace, '']
    return places.flatMap(place => bindings.of(userInfo(user), place)).map(({ binding }) => binding)
  }

  /** What an account holds outside the namespaces of its tenant. */
  rightsOutside(cluster: string, tenant: string, namespace: string, account: string): readonly ForeignRight[] {
    return this.#facts.memo(`outside ${cluster} ${tenant} ${namespace} ${account}`, () =>
      this.#rights(cluster).rightsOutside(userOfAccount(namespace, account), this.holder(cluster, tenant)),
    )
  }

  /** A tenant as one whose rights may be too much: see excessRights. */
  holder(cluster: string, tenant: string): RightsHolder {
    return { owns: other => this.owns(cluster, tenant, other), ofCapsule: this.isCapsuleTenant(cluster, tenant) }
  }

  /** What accounts of tenants hold in a namespace. */
  tenantRights(cluster: string, namespace: string): TenantRights {
    const work = () => tenantRights(this.authorizer(cluster), namespace, this.#facts.owners(cluster))
    return this.#facts.memo(`tenant rights ${cluster} ${namespace}`, work)
  }

  #rights(cluster: string): ClusterRights {
    const rendered = (kind: string) => this.renderedAnywhere(cluster, kind)
    const work = () => clusterRights(rendered, this.capsuleNamespaces(cluster), this.cluster(cluster))
    return this.#facts.memo(`rights ${cluster}`, work)
  }

  /** Why an account may do more than act in the namespaces of a tenant; undefined: the fleet's RBAC confines it to them. */
  reachOutside(cluster: string, tenant: string, namespace: string, account: string): string | undefined {
    return this.#rights(cluster).reachOutside(userOfAccount(namespace, account), this.holder(cluster, tenant))
  }
}

const unseenKey = (user: string, { verb, apiGroup, resource, namespace }: ResourceRequest) =>
  JSON.stringify([user, verb, apiGroup, resource, namespace])
