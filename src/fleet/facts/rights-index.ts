import { FLUX_KINDS, HELM_RELEASE } from '../../kube/flux-kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { display, groupOf, idOf, isSubdomain, type KubeObject } from '../../kube/object.ts'
import {
  type AccountRequest,
  apiPlaceOf,
  applyRequests,
  type CustomKinds,
  forceRequests,
  healthCheckRequests,
  healthRequests,
  type WithoutRight,
  waits,
} from '../../kube/rbac/apply-requests.ts'
import type { Authorizer } from '../../kube/rbac/authorizer.ts'
import { type Binding, type BoundSubject, RBAC_GROUP, type RoleRef, readBinding } from '../../kube/rbac/binding.ts'
import { confirmWrite, type WriteRefusal } from '../../kube/rbac/confirm-write.ts'
import {
  type AccessRequest,
  type PolicyRule,
  type ResourceRequest,
  ruleAllows,
  type UserInfo,
  userInfo,
  userOfAccount,
} from '../../kube/rbac/policy-rule.ts'
import type { FleetNode, Lockdown } from '../model/fleet.ts'
import { accountOf, kubeConfigOf } from '../model/kustomization-spec.ts'
import {
  type ClusterRights,
  clusterRights,
  excessAggregation,
  type ForeignRight,
  type RightsHolder,
} from './cluster-rights.ts'
import type { Facts } from './facts.ts'
import {
  type EarlierGrants,
  grantMakersOf,
  hasGrants,
  hasVisibleGrants,
  type OnlyUnapplied,
  type UnappliedGrant,
  unappliedGrants,
  unappliedText,
  unseenGrants,
} from './grants.ts'
import { type FleetAnswers, ObjectIndex, objectsOn } from './object-index.ts'
import { kindOf } from './object-table.ts'

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

  /** The names of the ClusterRoles that another one gathers its rules from; undefined: they are its own. */
  gatheredBy(cluster: string, clusterRole: string): readonly string[] | undefined {
    return this.authorizer(cluster).gatheredBy(clusterRole)
  }

  /** Whether an aggregated ClusterRole of a tenant exceeds what is worked out per tenant: its rules are unknown. */
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
      // what only an earlier build had counts as a fact but is not applied
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
    const node = all.has(object) ? undefined : this.node(key)
    const granted = node && confirmWrite(this.authorizer(node.cluster), userInfo(node.identity.user), object)
    return granted?.reason === 'escalation' ? granted.message : all.get(object)
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

  /** Whether a visible binding on a cluster is about this user, not about all users. */
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
    const work = () => clusterRights(objectsOn(this, cluster), this.capsuleNamespaces(cluster), this.cluster(cluster))
    return this.#facts.memo(`rights ${cluster}`, work)
  }

  /** Why an account may do more than act in the namespaces of a tenant; undefined: the fleet's RBAC confines it to them. */
  reachOutside(cluster: string, tenant: string, namespace: string, account: string): string | undefined {
    return this.#rights(cluster).reachOutside(userOfAccount(namespace, account), this.holder(cluster, tenant))
  }
}

const unseenKey = (user: string, { verb, apiGroup, resource, namespace }: ResourceRequest) =>
  JSON.stringify([user, verb, apiGroup, resource, namespace])

/** A request about an object that the API server refuses, as far as roles and bindings are visible. */
export interface RightRefusal {
  readonly object: KubeObject
  /** The user that sends it: the account of the node, or that of a HelmRelease. */
  readonly user: string
  readonly request: ResourceRequest
  /** What happens then; `escalation` and `missing-role`: a role or binding that grants more than the user holds, or a missing role. */
  readonly without: WithoutRight | 'escalation' | 'missing-role'
  /** The API server's own words. */
  readonly message: string
}

/**
 * Every request of a node that is refused, in the order of its objects: what applying each of them asks for as a new object,
 * what its health checks list, and what Helm asks for as the account of a HelmRelease. A kind that the cluster does not
 * define is left to the rules about kinds.
 */
function applyRefusals(
  { identity, tenant, kustomization, objects }: FleetNode,
  authorizer: Authorizer,
  custom: CustomKinds,
  lockdown: Lockdown | undefined,
): RightRefusal[] {
  const user = userInfo(identity.user)
  const isWaiting = waits(kustomization)
  const mayAll = authorizer.allowsAll(user)
  const refused: RightRefusal[] = []
  for (const object of objects) {
    const id = idOf(object)
    const isRelease = kindOf(object) === HELM_RELEASE
    if (mayAll && !isRelease && groupOf(id.apiVersion) !== RBAC_GROUP) continue
    const place = apiPlaceOf(id, custom)
    if ('problem' in place) continue
    if (!mayAll) {
      const health = isWaiting ? healthRequests(id, place.namespace) : []
      const forced = forceRequests(kustomization, object, place)
      ask(authorizer, user, object, [...applyRequests(id, place, 'add'), ...health, ...forced], refused)
    }
    // what a tenant grants is another rule's; only a Role of the same stage may be missing
    const isGrant = tenant === undefined || readBinding(object)?.roleRef.kind === 'Role'
    const { reason, message } = (isGrant && confirmWrite(authorizer, user, object)) || {}
    if (message !== undefined && (reason === 'escalation' || reason === 'missing-role')) {
      const request = { verb: 'patch', ...place, name: id.name }
      refused.push({ object, user: user.name, request, without: reason, message })
    }
    if (isRelease) askRelease(authorizer, object, lockdown, refused)
  }
  ask(authorizer, user, kustomization, healthCheckRequests(kustomization, custom).requests, refused)
  return refused
}

/** The requests by which Flux would prune an object as the account of a node, as far as they are refused. */
function pruneRefusals(
  { identity }: FleetNode,
  object: KubeObject,
  authorizer: Authorizer,
  custom: CustomKinds,
): RightRefusal[] {
  const id = idOf(object)
  const place = apiPlaceOf(id, custom)
  const refused: RightRefusal[] = []
  const requests = 'problem' in place ? [] : applyRequests(id, place, 'remove')
  ask(authorizer, userInfo(identity.user), object, requests, refused)
  return refused
}

function ask(
  authorizer: Authorizer,
  user: UserInfo,
  object: KubeObject,
  requests: readonly AccountRequest[],
  refused: RightRefusal[],
): void {
  for (const { request, without } of requests) {
    if (without === 'no-effect' || authorizer.allows(user, request)) continue
    const decision = authorizer.authorize(user, request)
    if (!decision.allowed) refused.push({ object, user: user.name, request, without, message: decision.message })
  }
}

/**
 * Helm keeps each revision of a release in a Secret of `spec.storageNamespace`, by default that of the HelmRelease, and
 * reads and writes it as the account of the HelmRelease (helm.sh/helm/v4 pkg/storage/driver/secrets.go).
 */
function askRelease(
  authorizer: Authorizer,
  release: KubeObject,
  lockdown: Lockdown | undefined,
  refused: RightRefusal[],
): void {
  const account = accountOf(release, lockdown)
  const { namespace, name } = idOf(release)
  // the account of its own cluster says nothing about another one
  if (account === undefined || !isSubdomain(account) || kubeConfigOf(release)) return
  const text = (field: string) => stringAt(release.root, ['spec', field]) || undefined
  const target = text('targetNamespace')
  const revision = `sh.helm.release.v1.${text('releaseName') ?? (target ? `${target}-${name}` : name)}.v1`
  const secrets = { apiGroup: '', resource: 'secrets', namespace: text('storageNamespace') ?? namespace }
  const requests = [
    { verb: 'list', ...secrets, name: '' },
    { verb: 'create', ...secrets, name: '' },
    { verb: 'update', ...secrets, name: revision },
  ]
  const about = display(idOf(release))
  const asked = requests.map(request => ({ request, without: 'not-applied' as const, about }))
  ask(authorizer, userInfo(userOfAccount(namespace, account)), release, asked, refused)
}

/** What tenants' accounts hold in a namespace; `unknown`: also an unrendered role, which may allow anything. */
interface TenantRights {
  readonly rules: readonly PolicyRule[]
  readonly unknown: boolean
}

const VERBS = ['create', 'update', 'patch']
/** The groups of every account, whatever its namespace. */
const EVERY_ACCOUNT = new Set(['system:serviceaccounts', 'system:authenticated', 'system:unauthenticated'])

/** What the accounts of tenants (`owners`: whose a namespace is) hold in a namespace. Groups of people do not count. */
function tenantRights(authorizer: Authorizer, namespace: string, owners: ReadonlyMap<string, string>): TenantRights {
  if (owners.size === 0) return { rules: [], unknown: false }
  const bindings = ['', namespace].flatMap(place => authorizer.bindings.inNamespace(place))
  const reaching = bindings.filter(({ subjects }) => subjects.some(subject => isAccount(subject, owners)))
  const roles = reaching.map(({ roleRef, namespace: place }) => authorizer.rulesOf(roleRef, place))
  return {
    rules: roles.flatMap(rules => rules ?? []),
    unknown: roles.some(rules => !rules),
  }
}

/** Objects by which their author writes ConfigMaps and Secrets: through a controller, or a pod with an account. */
const MAKERS: readonly (readonly [apiGroup: string, ...resources: string[]])[] = [
  ['', 'pods', 'replicationcontrollers'],
  ['apps', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  ['batch', 'cronjobs', 'jobs'],
  ['bitnami.com', 'sealedsecrets'],
  ['cert-manager.io', 'certificates'],
  ['external-secrets.io', 'externalsecrets'],
  ...FLUX_KINDS.filter(row => row.applies).map(({ group, plural }) => [group, plural] as const),
  ['kyverno.io', 'policies'],
  ['secrets.hashicorp.com', 'vaultdynamicsecrets', 'vaultpkisecrets', 'vaultstaticsecrets'],
]

/** Whether rights let someone decide what a ConfigMap or Secret holds. */
export function mayWrite({ rules, unknown }: TenantRights, kind: 'ConfigMap' | 'Secret', name: string): boolean {
  const own = { apiGroup: '', resource: kind === 'Secret' ? 'secrets' : 'configmaps', name }
  const made = MAKERS.flatMap(([apiGroup, ...resources]) =>
    resources.map(resource => ({ apiGroup, resource, name: '' })),
  )
  const requests = [own, ...made].flatMap(one => VERBS.map(verb => ({ ...one, verb })))
  return unknown || rules.some(rule => requests.some(request => ruleAllows(rule, request)))
}

function isAccount({ kind, name, namespace }: BoundSubject, owners: ReadonlyMap<string, string>): boolean {
  if (kind === 'ServiceAccount') return owners.has(namespace)
  if (kind === 'Group') {
    const own = /^system:serviceaccounts:(.+)$/.exec(name)?.[1]
    return EVERY_ACCOUNT.has(name) || (own !== undefined && owners.has(own))
  }
  const own = /^gotk:([^:]+):reconciler$/.exec(name)?.[1]
  return own !== undefined && owners.has(own)
}
