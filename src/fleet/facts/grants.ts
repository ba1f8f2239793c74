import { isKubernetesKind } from '../../kube/capabilities/scope.ts'
import { FLUX_KINDS, HELM_RELEASE, RESOURCE_SET } from '../../kube/flux-kinds.ts'
import { at, canonical, stringAt } from '../../kube/node.ts'
import { display, idOf, type KubeObject } from '../../kube/object.ts'
import type { Authorizer } from '../../kube/rbac/authorizer.ts'
import { type Binding, RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { accountOf, type ResourceRequest, type UserInfo, userInfo } from '../../kube/rbac/policy-rule.ts'
import { type FleetNode, nodesByKey, whyIncomplete } from '../model/fleet.ts'
import { renderResourceSet } from '../rendering/render-resource-set.ts'
import { CONTROLLER } from '../tenancy/delegated.ts'
import { unseenOwners } from './capsule.ts'
import type { FleetAnswers } from './object-index.ts'
import type { Rendered } from './object-table.ts'
import { heldNodes, isMarked } from './reconcilers.ts'
import { shownObject } from './shown.ts'

/** Explains why the rights of a binding's role are unknown. */
export function unknownRole({ kind, namespace, name, roleRef }: Binding): string {
  const role = shownObject(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name)
  return `${shownObject(kind, namespace, name)} refers to ${role}, which the fleet does not render, so its rights are unknown`
}

/** What could bind someone, and is not visible: each in a sentence. */
interface Unseen {
  /** Kustomizations that cannot be rendered. */
  readonly failed: readonly string[]
  /** Kustomizations whose source was not given. */
  readonly opaque: readonly string[]
}

/**
 * Describes the Kustomizations among `nodes` that could grant rights in a namespace ('': in the whole cluster) but are
 * not visible.
 */
export function unseenBinders(nodes: Iterable<FleetNode>, authorizer: Authorizer, namespace: string): Unseen {
  const failed: string[] = []
  const opaque: string[] = []
  for (const node of nodes) {
    const reason = whyUnseen(node)
    if (reason === undefined || !mayBind(node.identity, authorizer, namespace)) continue
    const name = shownObject('Kustomization', node.namespace, node.name)
    const list = node.source.opaque === undefined ? failed : opaque
    list.push(`${name} may grant permissions ${namespace ? 'there' : 'in the cluster'}, which are unknown: ${reason}`)
  }
  return { failed, opaque }
}

const whyUnseen = (node: FleetNode) => node.source.opaque ?? whyIncomplete(node)?.message

function mayBind({ impersonated, user: name }: FleetNode['identity'], authorizer: Authorizer, where: string): boolean {
  if (!impersonated || name === CONTROLLER.user) return true
  const user = userInfo(name)
  const may = (resource: string, namespace: string) =>
    authorizer.allows(user, { verb: 'create', apiGroup: RBAC_GROUP, resource, namespace, name: '' })
  return may('clusterrolebindings', '') || (where !== '' && may('rolebindings', where))
}

/** Whether someone could give a right to others: who may bind gives only what they hold, but by the verb `bind`. */
function mayGrant(identity: FleetNode['identity'], authorizer: Authorizer, request: ResourceRequest): boolean {
  const { namespace = '' } = request
  if (!mayBind(identity, authorizer, namespace)) return false
  const user = userInfo(identity.user)
  const bind = { verb: 'bind', apiGroup: RBAC_GROUP, resource: 'clusterroles', namespace, name: '' }
  return !identity.impersonated || authorizer.allows(user, request) || authorizer.allows(user, bind)
}

/** A cluster as its roles and bindings are visible. */
interface VisibleRights {
  readonly index: FleetAnswers
  readonly cluster: string
  /** Of the cluster. */
  readonly nodes: readonly FleetNode[]
  readonly authorizer: Authorizer
  /** See grantMakersOf. */
  readonly makers: () => readonly GrantMaker[]
}

/** What was visible before a change. */
export interface EarlierGrants {
  /** A grant allowed the request. */
  readonly right?: boolean
  /** Accounts of tenants had grants. */
  readonly ofTenants?: boolean
}

/** Groups of every account: a binding to them does not grant to one account. */
const EVERY_ACCOUNT = new Set(['system:serviceaccounts', 'system:authenticated'])

/**
 * Why a request that no visible grant allows may be allowed all the same, each in a sentence; none: it is refused. Any
 * platform Kustomization could bind anyone, so one that is not visible counts only where it concerns the namespace.
 */
export function unseenGrants(
  rights: VisibleRights,
  user: UserInfo,
  request: ResourceRequest,
  was: EarlierGrants,
): string[] {
  const { index, cluster, nodes, authorizer } = rights
  const { namespace = '', apiGroup } = request
  const { name } = user
  if (index.cluster(cluster)?.hub !== undefined) return ['the roles and bindings of another cluster are not visible']
  const { unresolved } = authorizer.held(user, namespace)
  // of a misspelled role nothing makes the role
  const missing = unresolved.filter(binding => authorizer.meantRole(binding) === undefined)
  const granting = nodes.filter(node => mayGrant(node.identity, authorizer, request))
  const { failed } = unseenBinders(granting, authorizer, namespace)
  const owners = unseenOwners(kind => index.platformAnywhere(cluster, kind), request)
  const isGranted = was.right === true || hasGrants(authorizer, user)
  return [
    ...missing.map(unknownRole),
    ...aggregated(rights, user, namespace, apiGroup),
    ...[name, ...user.groups].flatMap(one => owners.get(one) ?? []),
    ...failed,
    ...(namespace === '' ? [] : concerning(rights, user, request, namespace)),
    ...(isGranted || was.ofTenants || !isAccount(name) || hasVisibleGrants(rights)
      ? []
      : [`no account of a tenant on ${cluster} has a visible role`]),
  ].filter((reason, at, all) => all.indexOf(reason) === at)
}

/** Whether Flux applies as this user, which is then not a person. */
const isAccount = (user: string) => accountOf(user) !== undefined || /^gotk:[^:]+:reconciler$/.test(user)

const FLUX_GROUPS = new Set(FLUX_KINDS.map(row => row.group))

/** The aggregated role of Kubernetes by which an operator that the fleet does not render may have given the right. */
function aggregated(
  { index, cluster, authorizer }: VisibleRights,
  user: UserInfo,
  namespace: string,
  group: string,
): string[] {
  const defined = index.platformAnywhere(cluster, 'apiextensions.k8s.io/CustomResourceDefinition')
  // the roles of Flux are known: see assumedRbac
  if (FLUX_GROUPS.has(group)) return []
  const isDefined = defined.some(({ object }) => stringAt(object.root, ['spec', 'group']) === group)
  if (isDefined || isKubernetesKind(`${group}/`)) return []
  const bound = ['', namespace].flatMap(place => authorizer.bindings.of(user, place))
  const roles = bound.filter(({ binding }) => authorizer.isAggregated(binding.roleRef, binding.namespace))
  return roles.map(
    ({ binding: { roleRef } }) =>
      `${shownObject(roleRef.kind, '', roleRef.name)} may get rules from the operator of ${group}, which is not rendered`,
  )
}

/** Whether something binds the account itself, not only every account. */
export function hasGrants(authorizer: Authorizer, user: UserInfo): boolean {
  return ['', ...authorizer.bindings.namespacesOf(user)].some(namespace =>
    authorizer.bindings.of(user, namespace).some(({ subject }) => {
      return subject.kind !== 'Group' || !EVERY_ACCOUNT.has(subject.name)
    }),
  )
}

/** Whether any account of a tenant has a visible grant. */
export const hasVisibleGrants = ({ nodes, authorizer }: Pick<VisibleRights, 'nodes' | 'authorizer'>): boolean =>
  nodes.some(({ tenant, identity }) => tenant !== undefined && hasGrants(authorizer, userInfo(identity.user)))

/** What is not visible and names the namespace, or makes bindings in any. */
function concerning(rights: VisibleRights, user: UserInfo, request: ResourceRequest, namespace: string): string[] {
  const { index, cluster, nodes, authorizer } = rights
  const words = new Set([namespace, index.ownerOf(cluster, namespace) ?? namespace])
  const holder = index.ownerOf(cluster, accountOf(user.name)?.namespace ?? '')
  const own = nodes.filter(node => {
    // no tenant may grant rights to the account of another one
    if (node.tenant !== undefined && node.tenant !== holder) return false
    if (whyUnseen(node) === undefined || !mayGrant(node.identity, authorizer, request)) return false
    const target = stringAt(node.kustomization.root, ['spec', 'targetNamespace'])
    return [node.namespace, node.name, target, ...node.path.split('/')].some(word => words.has(word ?? ''))
  })
  const quoted = JSON.stringify(namespace)
  const isTenants = index.ownerOf(cluster, namespace) !== undefined
  const makers = rights.makers().filter(({ object, text, isBinding }) => {
    return isBinding || (isTenants && idOf(object).namespace === namespace) || text.includes(quoted)
  })
  return [
    ...own.map(node => `${display(idOf(node.kustomization))} is not visible: ${whyUnseen(node)}`),
    ...makers.map(({ object }) => `what ${display(idOf(object))} creates is not visible`),
  ]
}

/** An object of the platform by which something that is not rendered comes to the cluster. */
interface GrantMaker {
  readonly object: KubeObject
  /** What it states, as JSON. */
  readonly text: string
  /** It makes bindings, in any namespace. */
  readonly isBinding: boolean
}

const GENERATING = ['kyverno.io/ClusterPolicy', 'kyverno.io/Policy', 'policies.kyverno.io/GeneratingPolicy']

/** HelmReleases, ResourceSets of which a part is not rendered, and policies that generate objects. */
export function grantMakersOf(index: FleetAnswers, cluster: string): GrantMaker[] {
  const textOf = ({ root }: KubeObject) => canonical(at(root, ['spec']) ?? root)
  const releases = index.platformAnywhere(cluster, HELM_RELEASE).map(({ object }) => {
    return { object, text: textOf(object), isBinding: false }
  })
  const policies = GENERATING.flatMap(kind => index.platformAnywhere(cluster, kind)).map(({ object }) => object)
  const generating = policies.filter(one => idOf(one).kind === 'GeneratingPolicy' || textOf(one).includes('"generate"'))
  const sets = index.platformAnywhere(cluster, RESOURCE_SET).map(({ object }) => object)
  const unrendered = sets.filter(set => renderResourceSet(set).left.length > 0)
  const others = [...generating, ...unrendered].map(object => {
    const text = textOf(object)
    return { object, text, isBinding: /RoleBinding/.test(text) }
  })
  return [...releases, ...others]
}

/** A role or binding that is rendered and that Flux does not apply: what was on the cluster before stays as it was. */
export interface UnappliedGrant {
  readonly object: KubeObject
  /** In a sentence. */
  readonly why: string
  /** A Kustomization that goes on as the cluster has it, if it is there. */
  readonly goesOn?: string
}

/** Why a right that is visible may not be there. */
export interface OnlyUnapplied {
  /** The API server's words, if it is not. */
  readonly message: string
  /** Each in a sentence without its period. */
  readonly reasons: readonly string[]
}

/** How many grants in a row may each need the one before: of a longer row, no other grant of its author counts. */
const MAX_ROUNDS = 16

/** In a sentence without its period. */
export const unappliedText = (name: string, why: string): string => `${name} is not applied: ${why}`

/** Why Flux would not apply an object of a node that it applies; undefined: it would. */
type Refused = (rendered: Rendered, without: readonly string[]) => string | undefined

/** What of the roles and bindings of one cluster Flux does not apply, by what `display` writes. One that any Kustomization applies is applied. */
export function unappliedGrants(
  grants: readonly Rendered[],
  nodes: readonly FleetNode[],
  refused: Refused,
): ReadonlyMap<string, UnappliedGrant> {
  const nodeFault = nodeFaults(nodes)
  const byName = [...Map.groupBy(grants, ({ object }) => display(idOf(object)))]
  const faultOf = (rendered: Rendered, without: readonly string[]): Omit<UnappliedGrant, 'object'> | undefined => {
    const { node, object } = rendered
    if (isMarked(object)) return { why: 'its metadata has Flux leave it alone' }
    const fault = nodeFault(node)
    if (fault) return fault
    const why = refused(rendered, without)
    return why === undefined ? undefined : { why }
  }
  const found = new Map<string, UnappliedGrant>()
  // without one grant, its subject may not write others
  for (let count = -1, round = 0; count < found.size; round++) {
    const latest = [...found.keys()].slice(Math.max(count, 0))
    count = found.size
    if (round === MAX_ROUNDS) {
      for (const [name, one] of authoredLike(latest, byName)) found.set(name, one)
      return found
    }
    const without = [...found.keys()]
    for (const [name, all] of byName) {
      const faults = found.has(name) ? [] : all.map(one => faultOf(one, without))
      const fault = faults.find(one => one && 'goesOn' in one) ?? faults[0]
      if (fault && !faults.includes(undefined)) found.set(name, { object: all.at(-1)!.object, ...fault })
    }
  }
  return found
}

/** All grants of those who wrote these. */
function* authoredLike(
  names: readonly string[],
  byName: readonly (readonly [string, readonly Rendered[]])[],
): Iterable<[string, UnappliedGrant]> {
  const wanted = new Set(names)
  const authors = new Set(byName.flatMap(([name, all]) => (wanted.has(name) ? all.map(({ node }) => node.tenant) : [])))
  for (const [name, all] of byName) {
    const why = `it is one of more than ${MAX_ROUNDS} grants in a row that need each other`
    if (all.every(({ node }) => authors.has(node.tenant))) yield [name, { object: all.at(-1)!.object, why }]
  }
}

/** Why nothing new of a node is applied: it is suspended or held, or waits for a Kustomization that is never ready. */
function nodeFaults(nodes: readonly FleetNode[]): (node: FleetNode) => Omit<UnappliedGrant, 'object'> | undefined {
  const held = heldNodes(nodes)
  const byKey = nodesByKey(nodes)
  const isUnseen = nodes.some(one => one.source.opaque !== undefined || whyIncomplete(one) !== undefined)
  const ownFault = (node: FleetNode) => {
    const name = nameOf(node)
    if (node.suspend) return { why: `${name} is suspended` }
    if (held.has(node.key)) {
      return { why: `what applies ${name} is suspended, or has Flux leave it alone`, goesOn: node.key }
    }
    const gone = isUnseen ? undefined : node.dependsOn.find(key => !byKey.has(key))
    if (gone === undefined) return undefined
    const [, namespace = '', needs = ''] = gone.split('/')
    return { why: `${name} waits for ${shownObject('Kustomization', namespace, needs)}, which the fleet does not have` }
  }
  const faults = new Map(nodes.map(node => [node.key, ownFault(node)]))
  const ready = readyNodes(nodes, faults)
  return node => {
    const key = faults.get(node.key) ? undefined : node.dependsOn.find(one => byKey.has(one) && !ready.has(one))
    const needed = key === undefined ? undefined : byKey.get(key)
    return needed ? { why: `${nameOf(node)} waits for ${nameOf(needed)}, which is never ready` } : faults.get(node.key)
  }
}

const nameOf = ({ namespace, name }: FleetNode) => shownObject('Kustomization', namespace, name)

/** The nodes without a fault that wait for such nodes only; a circle of Kustomizations waits for ever. A tenant can make chains of any length. */
function readyNodes(nodes: readonly FleetNode[], faults: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const pairs = nodes.flatMap(node => [...new Set(node.dependsOn)].map(key => ({ node, key })))
  const waiting = Map.groupBy(
    pairs.filter(({ key }) => faults.has(key)),
    ({ key }) => key,
  )
  const left = new Map<string, number>()
  for (const { node } of [...waiting.values()].flat()) left.set(node.key, (left.get(node.key) ?? 0) + 1)
  const ready = new Set(nodes.filter(({ key }) => !faults.get(key) && !left.has(key)).map(({ key }) => key))
  // a node that is added in the loop is visited too
  for (const key of ready) {
    for (const { node } of waiting.get(key) ?? []) {
      const count = left.get(node.key)! - 1
      left.set(node.key, count)
      if (count === 0 && !faults.get(node.key)) ready.add(node.key)
    }
  }
  return ready
}
