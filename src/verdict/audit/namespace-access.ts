import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { excessRights } from '../../fleet/facts/cluster-rights.ts'
import type { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import { unknownRole } from '../../fleet/facts/grants.ts'
import { shownObject } from '../../fleet/facts/shown.ts'
import { type Fleet, type FleetNode, type Identity, whyIncomplete } from '../../fleet/model/fleet.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../../fleet/model/kustomization-spec.ts'
import { isInstalledRbac, OPERATOR_BINDING } from '../../flux/installed-rbac.ts'
import { fluxKind, KUSTOMIZATION, ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import type { Authorizer, Grant } from '../../kube/rbac/authorizer.ts'
import { type Binding, type BoundSubject, displayRbac, RBAC_GROUP, type RoleRef } from '../../kube/rbac/binding.ts'
import { covers } from '../../kube/rbac/confirm-write.ts'
import { compactString, type PolicyRule, userInfo, userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { type Account, reachableAccounts } from '../../kube/rbac/reachable-accounts.ts'
import type { ResourceTable } from '../../kube/rbac/resources.ts'

/** A Flux object that can change something in the namespace, and the repositories that control it. */
export interface Changer {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  /** Everyone with write access to this repository decides what it applies. */
  readonly repository: { readonly url: string; readonly ref: string; readonly path: string; readonly notSeen?: string }
  /** '' for the platform. */
  readonly tenant: string
  readonly identity: Identity
  /** False: it acts by a kubeconfig of its own, as with Capsule's proxy; taken for the same cluster. */
  readonly ownCluster: boolean
  /** Its own rights there; empty where it goes by way of another, and for a controller of which nothing is known. */
  readonly grants: readonly GrantView[]
  /** The account that it can act as, which has the rights. */
  readonly by?: { readonly account: string; readonly way: string; readonly grant: GrantView }
}

/** Who can change a namespace of one cluster. */
export interface NamespaceAccess {
  readonly cluster: string
  /** The tenant whose namespace it is; '' for the platform's. */
  readonly tenant: string
  readonly changers: readonly Changer[]
  /** Users, groups and accounts that no object of Flux acts as. The components of Kubernetes and Flux are left out, if
   * they are not cluster-admin. */
  readonly others: readonly GrantView[]
  /** What is not known, each in a sentence. */
  readonly unknown: readonly string[]
}

/**
 * Lists who can change a namespace of a cluster, from what the fleet renders: repository, Kustomization, account, role.
 */
export function namespaceAccess(
  fleet: Fleet,
  index: FleetIndex,
  cluster: string,
  namespace: string,
  resources: ResourceTable,
): NamespaceAccess {
  const nodes = fleet.nodes.filter(node => node.cluster === cluster)
  const rights = new Rights(index, cluster, namespace, resources)
  const changers = nodes.flatMap(node => [
    ...changerOf(rights, node, node.kustomization, node.identity),
    ...releasesOf(node).flatMap(object => changerOf(rights, node, object, identityOf(index, cluster, object))),
  ])
  const acting = new Set(changers.map(({ identity }) => identity.user))
  return {
    cluster,
    tenant: index.ownerOf(cluster, namespace) ?? '',
    changers,
    others: rights.others(acting),
    unknown: [...rights.unknown(), ...nodes.flatMap(byKubeConfig)],
  }
}

/** A Kustomization with a kubeconfig and no account acts as the user of the kubeconfig. */
function byKubeConfig({ kustomization, identity, namespace, name }: FleetNode): string[] {
  if (identity.impersonated || !kubeConfigOf(kustomization)) return []
  return [`${shownObject('Kustomization', namespace, name)} uses a kubeconfig that only the cluster has`]
}

/** A subject of a binding that can change something there. */
interface BoundGrant {
  readonly subject: BoundSubject
  readonly roleRef: RoleRef
  readonly view: GrantView
}

/** What the users of one cluster hold in one namespace. */
class Rights {
  readonly #index: FleetIndex
  readonly #cluster: string
  readonly #namespace: string
  readonly #resources: ResourceTable
  readonly #authorizer: Authorizer
  readonly #known = new Map<string, Pick<Changer, 'grants' | 'by'>>()
  #subjects: readonly BoundGrant[] | undefined

  constructor(index: FleetIndex, cluster: string, namespace: string, resources: ResourceTable) {
    this.#index = index
    this.#cluster = cluster
    this.#namespace = namespace
    this.#resources = resources
    this.#authorizer = index.authorizer(cluster)
  }

  /** How a user can change the namespace; undefined where nothing that is known allows it. */
  of(user: string): Pick<Changer, 'grants' | 'by'> | undefined {
    const known = this.#known.get(user) ?? this.#find(user)
    this.#known.set(user, known)
    return known.grants.length > 0 || known.by ? known : undefined
  }

  others(acting: ReadonlySet<string>): GrantView[] {
    const others = this.#bound().filter(({ subject: { kind, namespace, name }, roleRef, view }) => {
      const user = kind === 'ServiceAccount' ? userOfAccount(namespace, name) : name
      if (kind !== 'Group' && acting.has(user)) return false
      const isOwn = view.from.by === 'fleet' || view.from.by === 'capsule'
      return isOwn || (roleRef.kind === 'ClusterRole' && roleRef.name === 'cluster-admin')
    })
    return others.map(({ view }) => view)
  }

  unknown(): string[] {
    const bindings = ['', this.#namespace].flatMap(where => this.#authorizer.bindings.inNamespace(where))
    return bindings.filter(({ roleRef, namespace }) => !this.#authorizer.rulesOf(roleRef, namespace)).map(unknownRole)
  }

  #find(user: string): Pick<Changer, 'grants' | 'by'> {
    const own = this.#changing(user)
    if (own.length > 0) return { grants: own }
    const accounts = this.#bound().flatMap(({ subject }) => accountOfSubject(subject))
    for (const [name, { way, account }] of reachableAccounts(this.#authorizer, userInfo(user), accounts)) {
      const [grant] = this.#changing(name)
      if (grant) return { grants: [], by: { account: `${account.namespace}/${account.name}`, way, grant } }
    }
    return { grants: [] }
  }

  /** What Capsule and its proxy need in the whole cluster changes nothing of others: to create Namespaces, to be oneself. */
  #changingGrants(grants: readonly Grant[]): Grant[] {
    const others = grants.filter(({ binding, subject, rule }) => {
      if (binding.kind !== 'ClusterRoleBinding') return true
      if (this.#index.isMadeByCapsule(this.#cluster, displayRbac(binding))) return false
      const home = subject.namespace || /^system:serviceaccounts:(.+)$/.exec(subject.name)?.[1]
      const tenant = home === undefined ? undefined : this.#index.ownerOf(this.#cluster, home)
      return tenant === undefined || excessRights([rule], this.#index.holder(this.#cluster, tenant)).length > 0
    })
    return changingGrants(others, this.#resources)
  }

  #changing(user: string): GrantView[] {
    const { grants } = this.#authorizer.held(userInfo(user), this.#namespace)
    const changing = this.#changingGrants(grants)
    const rules = changing.map(({ binding }) => this.#authorizer.rulesOf(binding.roleRef, binding.namespace) ?? [])
    return changing.map((grant, at) => {
      const covered = rules.some((other, place) => {
        if (place === at || !covers(other, rules[at]!)) return false
        return place < at || !covers(rules[at]!, other)
      })
      return grantView(this.#index, this.#cluster, grant, covered)
    })
  }

  /** Every subject of a binding that can change something there. */
  #bound(): readonly BoundGrant[] {
    this.#subjects ??= this.#findBound()
    return this.#subjects
  }

  #findBound(): BoundGrant[] {
    const bindings = ['', this.#namespace].flatMap(where => this.#authorizer.bindings.inNamespace(where))
    return bindings.flatMap(binding =>
      binding.subjects.flatMap(subject => {
        const rules = this.#authorizer.rulesOf(binding.roleRef, binding.namespace) ?? []
        const grants = rules.map(rule => ({ binding, subject, rule }))
        return this.#changingGrants(grants).map(grant => ({
          subject,
          roleRef: binding.roleRef,
          view: grantView(this.#index, this.#cluster, grant),
        }))
      }),
    )
  }
}

function accountOfSubject({ kind, namespace, name }: BoundSubject): Account[] {
  return kind === 'ServiceAccount' && namespace !== '' && name !== '' ? [{ namespace, name }] : []
}

function changerOf(rights: Rights, node: FleetNode, object: KubeObject, identity: Identity): Changer[] {
  const ownCluster = kubeConfigOf(object) === undefined
  const held = rights.of(identity.user) ?? (identity.impersonated ? undefined : { grants: [] })
  if (!held || !(ownCluster || identity.impersonated)) return []
  const { kind, namespace, name } = idOf(object)
  const { url, ref, opaque } = node.source
  const own = object === node.kustomization
  const notSeen = own ? (opaque ?? whyIncomplete(node)?.message) : undefined
  const repository = { url, ref: nameOf(ref), path: own ? node.path : '', ...(notSeen ? { notSeen } : {}) }
  return [{ kind, namespace, name, repository, tenant: node.tenant ?? '', identity, ownCluster, ...held }]
}

function nameOf({ commit, name, semver, tag, branch }: FleetNode['source']['ref']): string {
  return commit ?? name ?? semver ?? tag ?? branch ?? ''
}

const RELEASES = new Set(applierKinds.filter(kind => kind !== KUSTOMIZATION))

/** What a Kustomization renders that a controller of Flux applies, releases and the like: asked again for each namespace. */
const releasesOf = oncePer(({ objects }: FleetNode): readonly KubeObject[] =>
  objects.filter(object => {
    const { apiVersion, kind } = idOf(object)
    return RELEASES.has(`${apiVersion.split('/')[0]}/${kind}`)
  }),
)

function identityOf(index: FleetIndex, cluster: string, object: KubeObject): Identity {
  const { apiVersion, kind, namespace } = idOf(object)
  const account = accountOf(object, index.cluster(cluster)?.lockdown)
  if (account) return { user: userOfAccount(namespace, account), impersonated: true }
  const controller = fluxKind(`${groupOf(apiVersion)}/${kind}`)?.applies?.controller ?? kind.toLowerCase()
  return { user: userOfAccount(ROOT_NAMESPACE, controller), impersonated: false }
}

const CHANGING = new Set(['*', 'create', 'update', 'patch', 'delete', 'deletecollection', 'impersonate'])
/** A request to one of these only asks what one may do: written as `create`, it changes nothing. */
const QUESTIONS = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

/** The grants that allow a change in a namespace: one per binding. */
function changingGrants(grants: readonly Grant[], resources: ResourceTable): Grant[] {
  const found = new Map<Grant['binding'], Grant>()
  for (const grant of grants) {
    if (!found.has(grant.binding) && changes(grant.rule, resources)) found.set(grant.binding, grant)
  }
  return [...found.values()]
}

/** Whether a rule changes something that lives in a namespace, or the Namespace itself. */
function changes({ verbs, apiGroups, resources }: PolicyRule, table: ResourceTable): boolean {
  if (!verbs.some(verb => CHANGING.has(verb))) return false
  return apiGroups.some(
    group =>
      !QUESTIONS.has(group) &&
      resources.some(text => {
        const [resource = ''] = text.split('/')
        return table.get(group, resource)?.scope !== 'Cluster' || (group === '' && resource === 'namespaces')
      }),
  )
}

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

/** The Kustomization that makes a binding: the last one where several write it. */
function sourceOf(index: FleetIndex, cluster: string, binding: Binding): BindingSource {
  const { kind, namespace, name } = binding
  const written = index.versionsOf(cluster, `${RBAC_GROUP}/${kind}`, namespace, name).at(-1)
  if (written) return { by: 'fleet', origin: written.object.root.origin, kustomization: written.node.key }
  if (isInstalledRbac(kind, name) || name === OPERATOR_BINDING) return { by: 'flux' }
  return { by: index.isMadeByCapsule(cluster, displayRbac(binding)) ? 'capsule' : 'kubernetes' }
}
