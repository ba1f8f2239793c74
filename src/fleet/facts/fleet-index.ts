import { artifactPath } from '../../flux/artifact.ts'
import type { TreeEntry } from '../../git/tree.ts'
import { HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { textMapOf } from '../../kube/read-fields.ts'
import { type Fleet, type FleetNode, isComplete, type NodeSource, nodeKey } from '../model/fleet.ts'
import type { Aliases, FleetConfig } from '../model/fleet-config.ts'
import { accountOf, kubeConfigOf } from '../model/kustomization-spec.ts'
import { declarationKey } from '../model/source-access.ts'
import { refKey, type SourceRef } from '../model/source-ref.ts'
import { CAPSULE_GROUP, capsuleOwners, homesOf, nameOfOwner, readCapsuleTenants } from '../tenancy/capsule.ts'
import { membersOf } from '../tenancy/delegated.ts'
import { isLabelled } from '../tenancy/tenancy.ts'
import {
  type CapsuleConfiguration,
  capsuleHomes,
  capsuleNamespaces,
  capsuleObjects,
  capsuleSettings,
  capsuleVersion,
  minorOf,
  readConfiguration,
} from './capsule.ts'
import { chartPartsOf, entriesAt, knownChartsOf } from './charts.ts'
import { type ClusterFacts, Facts } from './facts.ts'
import { type FleetAnswers, objectsOn } from './object-index.ts'
import { kindOf, type Rendered } from './object-table.ts'
import {
  clusterWideCreation,
  heldNodes,
  type KubeConfigUse,
  kubeConfigUses,
  type ReconcilerOf,
  reconcilersIn,
} from './reconcilers.ts'
import { type Directories, declaredDirectories } from './repositories.ts'
import { RightsIndex } from './rights-index.ts'
import { namedVersions, ownVersions, runningVersion } from './running-version.ts'
import { type FollowedSources, followedIn, repositoryAuthors } from './sources.ts'

const NO_NAMES: readonly string[] = []

interface CapsuleOf {
  readonly configuration: CapsuleConfiguration
  readonly version: number | undefined
  /** The minor version; the newest known one where nothing shows it. */
  readonly minor: number
  /** Owners whom Capsule accepts without an entry in its configuration, as `nameOfOwner` writes them. */
  readonly aggregated: ReadonlySet<string>
}

/**
 * Answers that rules need again and again, from the facts of one fleet. Kinds are `<group>/<Kind>`. Answers are recorded
 * and compared, so each is a pure function of the facts and its arguments: what is worth keeping is kept by `Facts.memo`,
 * never in a field. Of a node that an answer holds, everything counts but what it renders: ask for objects here.
 */
export class FleetIndex extends RightsIndex {
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

  /**
   * Whether a namespace shows its tenant only by a label: no Kustomization of the cluster acts for a tenant, and no RoleBinding
   * is rendered there. Flux's own example of a fleet without tenants labels the platform's namespaces like this.
   */
  isLabelAlone(cluster: string, namespace: string): boolean {
    const acts = this.#facts.memo(`acts ${cluster}`, () =>
      this.#facts.nodes().some(node => node.cluster === cluster && node.tenant !== undefined),
    )
    return (
      !acts &&
      this.capsuleTenantAt(cluster, namespace) === undefined &&
      !this.capsuleHomes(cluster).has(namespace) &&
      this.platformRendered(cluster, 'rbac.authorization.k8s.io/RoleBinding', namespace).length === 0
    )
  }

  /** The tenant of each namespace of a cluster that belongs to one. */
  ownersOf(cluster: string): ReadonlyMap<string, string> {
    return this.#facts.owners(cluster)
  }

  /** The tenant that the platform gave a namespace: by label, Capsule Tenant, or as home of an owner of one. */
  givenTo(cluster: string, namespace: string): string | undefined {
    const object = this.platformObject(cluster, '/Namespace', '', namespace)
    if (!object || !(isLabelled(object) || this.capsuleHomes(cluster).has(namespace))) return undefined
    return this.ownerOf(cluster, namespace)
  }

  /** Whether a namespace is one of the tenant's own. Compared exactly. */
  owns(cluster: string, tenant: string, namespace: string): boolean {
    const owner = namespace === '' ? undefined : this.ownerOf(cluster, namespace)
    return owner !== undefined && (owner === tenant || membersOf(tenant).includes(owner))
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
    const members = membersOf(tenant)
    return members.length > 1 ? members.flatMap(one => all.get(one) ?? []).sort() : (all.get(tenant) ?? NO_NAMES)
  }

  /** Who owns a Capsule Tenant on a cluster. */
  capsuleOwners(cluster: string): ReadonlySet<string> {
    return this.#facts.memo(`capsule ${cluster}`, () => {
      const all = ['Tenant', 'TenantOwner'].flatMap(kind => this.platformAnywhere(cluster, `${CAPSULE_GROUP}/${kind}`))
      return capsuleOwners(all.map(({ object }) => object))
    })
  }

  /** The namespaces in which accounts live that own a Capsule Tenant, by the Tenant. */
  capsuleHomesOf(cluster: string): ReadonlyMap<string, readonly string[]> {
    return this.#facts.memo(`homes of capsule ${cluster}`, () => {
      const all = ['Tenant', 'TenantOwner'].flatMap(kind => this.platformAnywhere(cluster, `${CAPSULE_GROUP}/${kind}`))
      return new Map(readCapsuleTenants(all.map(({ object }) => object)).map(one => [one.name, homesOf(one)]))
    })
  }

  /** The Capsule Tenants whose owners have their accounts in a namespace. */
  capsuleTenantsIn(cluster: string, namespace: string): readonly string[] {
    const all = this.#facts.memo(`capsule tenants in ${cluster}`, () => {
      const pairs = [...this.capsuleHomesOf(cluster)].flatMap(([name, homes]) => homes.map(home => ({ name, home })))
      return Map.groupBy(pairs, ({ home }) => home)
    })
    return (all.get(namespace) ?? []).map(({ name }) => name)
  }

  /** The version of Capsule on a cluster, and what its configuration says. */
  capsule(cluster: string): CapsuleOf {
    const platform = (kind: string) => this.platformAnywhere(cluster, kind)
    return this.#facts.memo(`capsule settings ${cluster}`, () => {
      const version = capsuleVersion(platform)
      const owners = readCapsuleTenants(capsuleObjects(platform)).flatMap(tenant => tenant.owners)
      return {
        configuration: readConfiguration(capsuleSettings(platform)),
        version,
        minor: minorOf(version),
        aggregated: new Set(owners.filter(one => one.isAggregated).map(nameOfOwner)),
      }
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

  /** Why the account of a node may create objects of a group in the whole cluster; undefined: the API server refuses it. */
  clusterWide(node: FleetNode, group: string): string | undefined {
    return clusterWideCreation(this, this.#facts, node, group)
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

  /** The Secrets in a namespace that lead to Capsule's proxy of the same cluster: one for each account that owns a Tenant. */
  proxyKubeConfigs(cluster: string, namespace: string): readonly string[] {
    return (this.capsuleHomes(cluster).get(namespace) ?? []).map(account => `${account}-kubeconfig`)
  }

  /** Whether an object acts by a kubeconfig other than that of Capsule's proxy. */
  actsElsewhere(cluster: string, object: KubeObject): boolean {
    const config = kubeConfigOf(object)
    const name = stringAt(config, ['secretRef', 'name']) ?? ''
    return config !== undefined && !this.proxyKubeConfigs(cluster, idOf(object).namespace).includes(name)
  }

  /** The name of the Tenant of each namespace that Capsule counts as one of it, in the order of the nodes. */
  capsuleNamespaces(cluster: string): ReadonlyMap<string, string> {
    const work = () => capsuleNamespaces(objectsOn(this, cluster), namespace => this.ownerOf(cluster, namespace))
    return this.#facts.memo(`capsule namespaces ${cluster}`, work)
  }

  /** The Capsule Tenant that Capsule counts a namespace to, as far as the fleet shows it. */
  capsuleTenantAt(cluster: string, namespace: string): KubeObject | undefined {
    const tenant = this.capsuleNamespaces(cluster).get(namespace)
    return tenant === undefined ? undefined : this.platformObject(cluster, `${CAPSULE_GROUP}/Tenant`, '', tenant)
  }

  /** The namespaces that Capsule counts to a Tenant, in the order of the nodes. */
  capsuleNamespacesOf(cluster: string, tenant: string): readonly string[] {
    return [...this.capsuleNamespaces(cluster)].flatMap(([namespace, name]) => (name === tenant ? namespace : []))
  }

  /** The tenant who alone deploys from what a source follows, by `sourceKey`. */
  authorOf(source: string): string | undefined {
    return this.#facts.memo('authors', () => repositoryAuthors(this.#facts.nodes())).get(source)
  }

  /** Who declares a source that follows this ref of a repository; undefined: no one. */
  followerOf(url: string, ref: SourceRef): 'platform' | 'tenant' | undefined {
    return this.#followed().byRef.get(`${url} ${refKey(ref)}`)
  }

  /** Whether a tenant's GitRepository may not be read for it; then nothing about its repository is shown either. */
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

  /** The tenants that the platform declares sources of a repository for; '' is the platform; sorted. */
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

  /** The tenant that an object acts for: that of its node, else the tenant of its namespace or its account. */
  actsFor(node: FleetNode, object: KubeObject): string | undefined {
    if (node.tenant !== undefined) return node.tenant
    const child = this.nodeOf(node.cluster, object)
    if (child) return child.tenant
    const { namespace } = idOf(object)
    const { delegates, lockdown } = this.cluster(node.cluster) ?? {}
    const account = delegates && kindOf(object) === HELM_RELEASE ? accountOf(object, lockdown) : undefined
    return this.givenTo(node.cluster, namespace) ?? (account && delegates?.get(userOfAccount(namespace, account)))
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

  /** The first cluster of the fleet's own Flux on which the platform applies a folder of a repository, evaluated. */
  applierOf({ url, ref }: Pick<NodeSource, 'url' | 'ref'>, folder: string): string | undefined {
    const nodes = this.#facts.nodes()
    const held = heldNodes(nodes)
    const isThere = ({ path, source }: FleetNode) =>
      artifactPath(path) === folder && source.url === url && refKey(source.ref) === refKey(ref)
    const isApplied = ({ key, tenant, parent, hub, digest }: FleetNode) =>
      tenant === undefined &&
      parent !== undefined &&
      hub === undefined &&
      isComplete({ digest }) &&
      !held.isDormant(key)
    return nodes.find(node => isThere(node) && isApplied(node))?.cluster
  }

  /** The Kustomizations in a namespace. */
  nodesIn(cluster: string, namespace: string): readonly FleetNode[] {
    return this.#facts.nodes().filter(node => node.cluster === cluster && node.namespace === namespace)
  }

  #followed(): FollowedSources {
    return this.#facts.memo('followed', () => followedIn(this, this.#facts.nodes()))
  }
}

/**
 * What is still rendered of a namespace: the Namespace itself, else the first Kustomization or object in it. It looks at
 * every object of the cluster, so it is asked only of namespaces that a tenant lost.
 */
function remainsIn(index: FleetAnswers, facts: Facts, cluster: string, namespace: string): Rendered | undefined {
  const itself = index.versionsOf(cluster, '/Namespace', '', namespace).find(isRendered)
  if (itself) return itself
  for (const { key } of facts.nodes().filter(one => one.cluster === cluster)) {
    const object = facts.objects(key).find(one => idOf(one).namespace === namespace)
    const node = object && facts.node(key)
    if (node && isRendered({ node, object })) return { node, object }
  }
  return undefined
}

/** Objects that only the last complete build had do not count as left behind. */
const isRendered = ({ node, object }: { readonly node: FleetNode; readonly object: KubeObject }) =>
  !node.retained?.includes(object)

/**
 * The labels of a namespace that may be believed: those that the platform writes, and its name, which Kubernetes itself
 * writes. A tenant who may label a namespace could else select itself.
 */
export function namespaceLabels(index: FleetIndex, cluster: string, namespace: string): ReadonlyMap<string, string> {
  const object = index.platformObject(cluster, '/Namespace', '', namespace)
  const written = textMapOf(at(object?.root, ['metadata', 'labels'])) ?? []
  return new Map([...written, ['kubernetes.io/metadata.name', namespace]])
}
