import type { Aliases } from '../fleet/model/address-in.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import type { FleetConfig } from '../fleet/model/fleet-config.ts'
import { nodeKey } from '../fleet/model/node-key.ts'
import { refKey } from '../fleet/model/ref.ts'
import { declarationKey } from '../fleet/model/source-access.ts'
import type { SourceRef } from '../fleet/model/source-ref.ts'
import { CAPSULE_GROUP, capsuleOwners } from '../fleet/tenancy/capsule.ts'
import { isLabelled } from '../fleet/tenancy/tenancy.ts'
import type { TreeEntry } from '../git/tree.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import { type Binding, RBAC_GROUP, type RoleRef } from '../kube/rbac/binding.ts'
import type { WriteRefusal } from '../kube/rbac/confirm-write.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import type { PolicyRule } from '../kube/rbac/policy-rule.ts'
import type { ResourceRequest, UserInfo } from '../kube/rbac/request.ts'
import { applyRefusals, pruneRefusals, type RightRefusal } from './apply-refusals.ts'
import { capsuleHomes } from './capsule-homes.ts'
import { chartPartsOf, entriesAt, knownChartsOf } from './chart-parts-of.ts'
import { type ClusterRights, clusterRightsOf, type ForeignRight } from './cluster-rights.ts'
import { clusterWideCreation } from './cluster-wide-creation.ts'
import { type Directories, declaredDirectories } from './directory-holder.ts'
import { excessAggregation } from './excess-aggregation.ts'
import type { RightsHolder } from './excess-rights.ts'
import { type ClusterFacts, Facts } from './facts.ts'
import type { FleetAnswers } from './fleet-answers.ts'
import { type FollowedSources, followedIn } from './followed-sources.ts'
import { type KubeConfigUse, kubeConfigUses } from './kubeconfig-uses.ts'
import { isPlatform, ObjectIndex } from './object-index.ts'
import type { Rendered } from './object-table.ts'
import { type ReconcilerOf, reconcilersIn } from './reconciler-accounts.ts'
import { remainsIn } from './remains-in.ts'
import { repositoryAuthors } from './repository-authors.ts'
import { namedVersions, ownVersions, runningVersion } from './running-version.ts'
import { type TenantRights, tenantRights } from './tenant-rights.ts'
import { type EarlierGrants, grantMakersOf, hasVisibleGrants, unseenGrants } from './unseen-grants.ts'

const NO_NAMES: readonly string[] = []
const NO_REFUSALS: readonly RightRefusal[] = []

/**
 * Answers that rules need again and again, from the facts of one fleet. Kinds are `<group>/<Kind>`. Answers are recorded
 * and compared, so each is a pure function of the facts and its arguments: what is worth keeping is kept by `Facts.memo`,
 * never in a field. Of a node that an answer holds, everything counts but what it renders: ask for objects here.
 */
export class FleetIndex extends ObjectIndex implements FleetAnswers {
  readonly #facts: Facts

  constructor(fleet: Fleet | Facts) {
    const facts = fleet instanceof Facts ? fleet : new Facts(fleet, false)
    super(facts)
    this.#facts = facts
  }

  /** The addresses that the fleet's file declares to be one repository. */
  aliases(): Aliases {
    return this.#facts.aliases()
  }

  /** What the fleet's file says after the change: it has no effect yet. */
  proposed(): FleetConfig {
    return this.#facts.proposed()
  }

  node(key: string | undefined): FleetNode | undefined {
    return key === undefined ? undefined : this.#facts.node(key)
  }

  cluster(name: string): ClusterFacts | undefined {
    return this.#facts.cluster(name)
  }

  /** Names of the clusters, sorted. */
  clusters(): string[] {
    return this.#facts.clusterNames()
  }

  /** The minor version of Kubernetes that a cluster runs according to objects of the platform; undefined if they do not show it. */
  derivedVersion(cluster: string): number | undefined {
    const platform = (from: string, kind: string) => this.platformAnywhere(from, kind)
    return this.#facts.memo(`version ${cluster}`, () => {
      const named = this.#facts.memo('versions', () => namedVersions(this.clusters(), platform))
      return runningVersion([...ownVersions(cluster, platform), ...(named.get(cluster) ?? [])])
    })
  }

  /** What a node renders, in the order of the build; then what of its last complete build still counts. */
  objectsOf(key: string): readonly KubeObject[] {
    return this.#facts.objects(key)
  }

  /** The tenant that a namespace belongs to; undefined for the platform's. */
  ownerOf(cluster: string, namespace: string): string | undefined {
    return this.#facts.owner(cluster, namespace)
  }

  /** Whether any namespace of a cluster belongs to a tenant. */
  hasTenants(cluster: string): boolean {
    return this.#facts.owners(cluster).size > 0
  }

  /** The tenant of each namespace of a cluster that belongs to one. */
  ownersOf(cluster: string): ReadonlyMap<string, string> {
    return this.#facts.owners(cluster)
  }

  /** To whom the platform gave a namespace: by its label, to a Capsule Tenant, or as the home of an account that owns one. */
  givenTo(cluster: string, namespace: string): string | undefined {
    const object = this.platformObject(cluster, '/Namespace', '', namespace)
    if (!object || !(isLabelled(object) || this.capsuleHomes(cluster).has(namespace))) return undefined
    return this.ownerOf(cluster, namespace)
  }

  /** Whether a namespace is one of the tenant's own. Compared exactly. */
  owns(cluster: string, tenant: string, namespace: string): boolean {
    return namespace !== '' && this.ownerOf(cluster, namespace) === tenant
  }

  /** Namespaces of a tenant on a cluster, sorted. */
  namespacesOf(cluster: string, tenant: string): readonly string[] {
    const all = this.#facts.memo(`namespaces ${cluster}`, () => {
      const namespaces = new Map<string, string[]>()
      for (const [namespace, owner] of this.#facts.owners(cluster)) {
        const own = namespaces.get(owner)
        if (own) own.push(namespace)
        else namespaces.set(owner, [namespace])
      }
      for (const own of namespaces.values()) own.sort()
      return namespaces
    })
    return all.get(tenant) ?? NO_NAMES
  }

  /** Who owns a Capsule Tenant on a cluster. */
  capsuleOwners(cluster: string): ReadonlySet<string> {
    return this.#facts.memo(`capsule ${cluster}`, () => {
      const all = ['Tenant', 'TenantOwner'].flatMap(kind => this.renderedAnywhere(cluster, `${CAPSULE_GROUP}/${kind}`))
      return capsuleOwners(all.filter(isPlatform).map(({ object }) => object))
    })
  }

  /** The tenant of a namespace where the platform declares that tenant by a label; one that only follows from a source is none. */
  declaredOwnerOf(cluster: string, namespace: string): string | undefined {
    const tenant = this.ownerOf(cluster, namespace)
    if (tenant === undefined || this.givenTo(cluster, namespace) === tenant) return tenant
    return this.#isGivenAny(cluster, tenant) ? tenant : undefined
  }

  #isGivenAny(cluster: string, tenant: string): boolean {
    return this.#facts.memo(`given ${cluster} ${tenant}`, () =>
      this.namespacesOf(cluster, tenant).some(other => this.givenTo(cluster, other) === tenant),
    )
  }

  /** As which accounts Flux acts in a namespace: whether one of them is, and who makes it so. */
  reconciler(cluster: string, namespace: string, account: string): ReconcilerOf | undefined {
    const work = () => reconcilersIn(this, cluster, namespace)
    return this.#facts.memo(`reconcilers ${cluster} ${namespace}`, work).get(account)
  }

  /** Whether objects of a namespace use a Secret or ConfigMap of it as a kubeconfig. */
  kubeConfigUse(cluster: string, namespace: string, kind: string, name: string): KubeConfigUse | undefined {
    const work = () => kubeConfigUses(wanted => this.rendered(cluster, wanted, namespace))
    return this.#facts.memo(`kubeconfigs ${cluster} ${namespace}`, work).get(`${kind} ${name}`)
  }

  /** Who may do what on a cluster: ask for one answer below where that is enough. */
  authorizer(cluster: string): Authorizer {
    return this.#rights(cluster).every
  }

  /** The roles and bindings of Flux that it takes for granted, because the fleet does not render them. */
  assumedRbac(cluster: string): readonly KubeObject[] {
    return this.#rights(cluster).assumed
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
      const authorizer = without.length === 0 ? rights.every : rights.without(new Set(without))
      return applyRefusals(node, authorizer, this.customKinds(node.cluster), this.cluster(node.cluster)?.lockdown)
    })
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
  appliesUnseen(cluster: string, user: string, { verb, apiGroup, resource, namespace }: ResourceRequest): boolean {
    const all = this.#facts.memo(`unseen ${cluster}`, () => {
      const nodes = this.#facts.nodes().filter(node => node.cluster === cluster && !node.suspend && !node.error)
      const refused = nodes.flatMap(({ key }) => this.refusals(key)).filter(one => one.without === 'not-applied')
      return new Set(refused.map(one => unseenKey(one.user, one.request)))
    })
    return all.has(unseenKey(user, { verb: verb === 'create' ? 'patch' : verb, apiGroup, resource, namespace }))
  }

  /** The API server's words where it refuses a request. */
  refusalOf(cluster: string, user: string, request: ResourceRequest): string | undefined {
    const decision = this.authorizer(cluster).authorize(userInfo(user), request)
    return decision.allowed ? undefined : decision.message
  }

  /** Why a request that no visible grant allows may be allowed all the same. */
  unseenGrants(cluster: string, user: UserInfo, request: ResourceRequest, was: EarlierGrants = {}): readonly string[] {
    const authorizer = this.authorizer(cluster)
    const nodes = this.#facts.nodes().filter(node => node.cluster === cluster)
    const makers = () => this.#facts.memo(`grant makers ${cluster}`, () => grantMakersOf(this, cluster))
    return unseenGrants({ index: this, cluster, nodes, authorizer, makers }, user, request, was)
  }

  /** Whether any account of a tenant has a visible grant on a cluster. */
  hasVisibleGrants(cluster: string): boolean {
    const nodes = this.#facts.nodes().filter(node => node.cluster === cluster)
    return hasVisibleGrants({ nodes, authorizer: this.authorizer(cluster) })
  }

  /** The bindings of a user in a namespace and in the cluster. */
  bindingsOf(cluster: string, user: string, namespace: string): readonly Binding[] {
    const { bindings } = this.authorizer(cluster)
    const places = namespace === '' ? [''] : [namespace, '']
    return places.flatMap(place => bindings.of(userInfo(user), place)).map(({ binding }) => binding)
  }

  /** Why the account of a node may create objects of a group in the whole cluster; undefined: the API server refuses it. */
  clusterWide(node: FleetNode, group: string): string | undefined {
    return clusterWideCreation(this, this.#facts, node, group)
  }

  /** What an account holds outside the namespaces of its tenant. */
  rightsOutside(cluster: string, tenant: string, namespace: string, account: string): readonly ForeignRight[] {
    return this.#facts.memo(`outside ${cluster} ${tenant} ${namespace} ${account}`, () =>
      this.#rights(cluster).rightsOutside(userOfAccount(namespace, account), this.#holder(cluster, tenant)),
    )
  }

  #holder(cluster: string, tenant: string): RightsHolder {
    return { owns: other => this.owns(cluster, tenant, other), ofCapsule: this.isCapsuleTenant(cluster, tenant) }
  }

  /** What accounts of tenants hold in a namespace. */
  tenantRights(cluster: string, namespace: string): TenantRights {
    const work = () => tenantRights(this.authorizer(cluster), namespace, this.#facts.owners(cluster))
    return this.#facts.memo(`tenant rights ${cluster} ${namespace}`, work)
  }

  /** Whether accounts of the tenant's namespaces own a Capsule Tenant. */
  isCapsuleTenant(cluster: string, tenant: string): boolean {
    return this.#facts.memo(`of capsule ${cluster} ${tenant}`, () =>
      this.namespacesOf(cluster, tenant).some(namespace => this.capsuleHomes(cluster).has(namespace)),
    )
  }

  /** The namespaces whose accounts own a Capsule Tenant, with the names of those that are owners by name. */
  capsuleHomes(cluster: string): ReadonlyMap<string, readonly string[]> {
    return this.#facts.memo(`capsule homes ${cluster}`, () => capsuleHomes(this.capsuleOwners(cluster)))
  }

  #rights(cluster: string): ClusterRights {
    return this.#facts.memo(`rights ${cluster}`, () => clusterRightsOf(this, cluster))
  }

  /** The tenant who alone deploys from what a source follows, by `sourceKey`. */
  authorOf(source: string): string | undefined {
    return this.#facts.memo('authors', () => repositoryAuthors(this.#facts.nodes())).get(source)
  }

  /** Who declares a source that follows this of a repository; undefined: nobody. */
  followerOf(url: string, ref: SourceRef): 'platform' | 'tenant' | undefined {
    return this.#followed().byRef.get(`${url} ${refKey(ref)}`)
  }

  /** Whether a tenant's GitRepository may not be read for it: what the fleet knows of its repository is not told either. */
  isRefused(cluster: string, namespace: string, name: string): boolean {
    const key = declarationKey(cluster, `GitRepository/${namespace}/${name}`)
    return this.#facts.access()?.declarations.get(key)?.refused === true
  }

  /** Whether GitHub's rules require our check where a new source of a tenant follows a branch, and it is theirs to be checked. */
  isGatedByRules(cluster: string, namespace: string, name: string): boolean {
    const key = declarationKey(cluster, `GitRepository/${namespace}/${name}`)
    return this.#facts.access()?.declarations.get(key)?.gated === true
  }

  /** Whether the command line was given the content of a source: it reads all that it is given, and can ask GitHub nothing. */
  isGiven(url: string, ref: SourceRef): boolean {
    return this.#facts.access() === undefined && this.#facts.content(url, refKey(ref)) !== undefined
  }

  /** Whether the platform declares a source for a repository, whatever of it that follows. */
  isKnownRepository(url: string): boolean {
    return this.#followed().known.has(url)
  }

  /** For whom the platform declares sources of a repository: names of tenants, '' for itself; sorted. */
  usersOf(url: string): string[] {
    return [...(this.#followed().known.get(url) ?? [])].sort()
  }

  /** What in git makes the chart that a HelmRelease of a node deploys; undefined where it comes from elsewhere. */
  chartParts(node: string, release: KubeObject): ReturnType<typeof chartPartsOf> {
    return chartPartsOf(this, this.#facts, node, release)
  }

  /** What the releases of a namespace deploy, and the names of their charts (see knownChartsOf). */
  knownCharts(cluster: string, namespace: string): ReadonlySet<string> {
    return this.#facts.memo(`charts ${cluster} ${namespace}`, () => knownChartsOf(this, cluster, namespace))
  }

  /** The entries of a directory of a repository, or the file at a path itself; `ref` as refKey gives it. */
  entriesAt(url: string, ref: string, path: string): readonly TreeEntry[] {
    return entriesAt(this.#facts.content(url, ref), path)
  }

  /** Why an account may do more than act in the namespaces of a tenant; undefined: the fleet's RBAC confines it to them. */
  reachOutside(cluster: string, tenant: string, namespace: string, account: string): string | undefined {
    return this.#rights(cluster).reachOutside(userOfAccount(namespace, account), this.#holder(cluster, tenant))
  }

  /** Who deploys from which directory of a repository, as the platform declares it. */
  directoriesOf(url: string): Directories {
    const all = this.#facts.memo('directories', () =>
      declaredDirectories(this.#facts.nodes(), ({ parent }) => this.node(parent)?.tenant),
    )
    return all.get(url) ?? { holders: new Map(), below: new Map() }
  }

  /** The node that a Flux Kustomization became. */
  nodeOf(cluster: string, object: KubeObject): FleetNode | undefined {
    const node = this.#facts.node(nodeKey(cluster, idOf(object)))
    return node?.kustomization === object ? node : undefined
  }

  /** The tenant that an object acts for: of the node that applies or becomes of it, else whom its namespace was given to. */
  actsFor(node: FleetNode, object: KubeObject): string | undefined {
    if (node.tenant !== undefined) return node.tenant
    const child = this.nodeOf(node.cluster, object)
    return child ? child.tenant : this.givenTo(node.cluster, idOf(object).namespace)
  }

  /** What is still rendered of a namespace, of all that its cluster renders: ask it only of one that a tenant lost. */
  remainsIn(cluster: string, namespace: string): Rendered | undefined {
    return this.#facts.memo(`remains ${cluster} ${namespace}`, () => remainsIn(this, this.#facts, cluster, namespace))
  }

  /** The Kustomization that a cluster starts from, whatever it is called. */
  rootOf(cluster: string): FleetNode | undefined {
    const root = this.#facts.memo(`root ${cluster}`, () =>
      this.#facts.nodes().find(node => node.cluster === cluster && node.parent === undefined),
    )
    return this.node(root?.key)
  }

  /** The Kustomizations in a namespace. */
  nodesIn(cluster: string, namespace: string): readonly FleetNode[] {
    return this.#facts.nodes().filter(node => node.cluster === cluster && node.namespace === namespace)
  }

  #followed(): FollowedSources {
    return this.#facts.memo('followed', () => followedIn(this, this.#facts.nodes()))
  }
}

const unseenKey = (user: string, { verb, apiGroup, resource, namespace }: ResourceRequest) =>
  JSON.stringify([user, verb, apiGroup, resource, namespace])

export { kindOf, kindOfId } from './kind-of.ts'
