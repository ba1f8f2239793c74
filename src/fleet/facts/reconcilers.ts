import { oncePer } from '../../base/once-per.ts'
import { KUSTOMIZE_GROUP } from '../../kube/flux-kinds.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { Authorizer } from '../../kube/rbac/authorizer.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { type PolicyRule, userInfo } from '../../kube/rbac/policy-rule.ts'
import { type FleetNode, isIncomplete, type Lockdown, nodesByKey } from '../model/fleet.ts'
import { accountOf, applierKinds, kubeConfigOf } from '../model/kustomization-spec.ts'
import type { Facts } from './facts.ts'
import type { FleetAnswers } from './object-index.ts'
import type { Rendered } from './object-table.ts'
import { shown } from './shown.ts'

/** Who makes Flux act as an account: the platform, or only the tenant itself. */
export type ReconcilerOf = 'platform' | 'tenant'

/** The same of a namespace of an index. */
export function reconcilersIn(
  index: FleetAnswers,
  cluster: string,
  namespace: string,
): ReturnType<typeof reconcilerAccounts> {
  const owners = index.capsuleHomes(cluster).get(namespace) ?? []
  const rendered = (kind: string) => index.rendered(cluster, kind, namespace)
  return reconcilerAccounts(rendered, index.cluster(cluster)?.lockdown, owners)
}

/**
 * The accounts of a namespace as which Flux acts there, by name: those of its Kustomizations, releases and the like, and the
 * owners of Capsule's Tenants. `rendered`: the objects of a kind in the namespace; `owners`: names of such owners in it.
 */
function reconcilerAccounts(
  rendered: (kind: string) => readonly Rendered[],
  lockdown: Lockdown | undefined,
  owners: Iterable<string>,
): ReadonlyMap<string, ReconcilerOf> {
  const accounts = new Map<string, ReconcilerOf>()
  for (const { node, object } of applierKinds.flatMap(rendered)) {
    const account = accountOf(object, lockdown)
    if (!account || accounts.get(account) === 'platform') continue
    accounts.set(account, node.tenant === undefined ? 'platform' : 'tenant')
  }
  for (const owner of owners) accounts.set(owner, 'platform')
  return accounts
}

/** What an object says about the cluster that it acts on. */
export interface KubeConfigRef {
  /** '' where it names neither. */
  readonly kind: 'Secret' | 'ConfigMap' | ''
  readonly name: string
  /** Of a Secret: the key that holds the kubeconfig; '' for Flux's default. */
  readonly key: string
  readonly path: Path
}

/** Who uses a Secret or ConfigMap of a namespace as a kubeconfig, and by which keys the platform does. */
export interface KubeConfigUse {
  readonly by: ReconcilerOf
  readonly keys: ReadonlySet<string>
}

/** What `spec.kubeConfig` refers to, each part of it: the API server asks for exactly one, others may not. */
export function kubeConfigRefs(config: Node): KubeConfigRef[] {
  const path = ['spec', 'kubeConfig']
  const named = (field: string, kind: KubeConfigRef['kind']): KubeConfigRef[] => {
    const name = stringAt(config, [field, 'name'])
    if (name === undefined) return []
    return [{ kind, name, key: stringAt(config, [field, 'key']) ?? '', path: [...path, field, 'name'] }]
  }
  const refs = [...named('secretRef', 'Secret'), ...named('configMapRef', 'ConfigMap')]
  if (refs.length > 0) return refs
  const field = ['secretRef', 'configMapRef'].find(one => at(config, [one]))
  return [{ kind: '', name: '', key: '', path: field ? [...path, field] : path }]
}

/** The Secrets and ConfigMaps of a namespace that its objects use as kubeconfigs, by `<Kind> <name>`. */
export function kubeConfigUses(rendered: (kind: string) => readonly Rendered[]): ReadonlyMap<string, KubeConfigUse> {
  const uses = new Map<string, KubeConfigUse>()
  for (const { node, object } of applierKinds.flatMap(rendered)) {
    const config = kubeConfigOf(object)
    for (const { kind, name, key } of config ? kubeConfigRefs(config) : []) {
      const own = node.tenant === undefined
      const known = uses.get(`${kind} ${name}`)
      const keys = new Set([...(known?.keys ?? []), ...(own ? [key] : [])])
      uses.set(`${kind} ${name}`, { by: own ? 'platform' : (known?.by ?? 'tenant'), keys })
    }
  }
  return uses
}

/**
 * The nodes of which Flux does not apply what git says of them: their Kustomization is marked to be left alone, or what
 * renders it is suspended or held itself. What was applied of it before goes on.
 */
class HeldNodes {
  readonly #nodes: ReadonlyMap<string, FleetNode>
  readonly #known = new Map<string, boolean>()

  constructor(nodes: readonly FleetNode[]) {
    this.#nodes = nodesByKey(nodes)
  }

  has(key: string): boolean {
    const before = this.#known.get(key)
    if (before !== undefined) return before
    // set first: whatever a fleet holds, this ends
    this.#known.set(key, false)
    const node = this.#nodes.get(key)
    const parent = node?.parent
    // who applied a root is not known; it goes on, whatever it says of itself
    const isHeld = parent !== undefined && (isMarked(node!.kustomization) || this.isDormant(parent))
    this.#known.set(key, isHeld)
    return isHeld
  }

  /** Whether a node is held or suspended. */
  isDormant(key: string): boolean {
    return this.#nodes.get(key)?.suspend === true || this.has(key)
  }
}

/** Those of a fleet. */
export const heldNodes = oncePer((nodes: readonly FleetNode[]) => new HeldNodes(nodes))

/** Whether Flux leaves an object in git alone (fluxcd/pkg ssa: labels and annotations, in any case). */
export function isMarked(object: KubeObject): boolean {
  return ['labels', 'annotations'].some(part => {
    const says = (name: string) =>
      stringAt(object.root, ['metadata', part, `${KUSTOMIZE_GROUP}/${name}`])?.toLowerCase()
    return says('reconcile') === 'disabled' || says('ssa') === 'ignore'
  })
}

/**
 * Why the account of a node may create objects of an API group that belong to the whole cluster, as far as it is known;
 * undefined: no ClusterRoleBinding lets it, so the API server refuses them. Of an undeclared kind the resource is not
 * known, so every resource of the group counts. What cannot be read counts as allowing it; charts of the platform do not: they
 * bind accounts of their own.
 */
export function clusterWideCreation(
  index: FleetAnswers,
  facts: Facts,
  node: FleetNode,
  group: string,
): string | undefined {
  if (!node.identity.impersonated) return "it would be applied by Flux's controller itself"
  const hole = facts.memo(`rbac holes ${node.cluster}`, () => holeOf(index, facts, node.cluster))
  if (hole !== undefined) return hole
  const authorizer = index.authorizer(node.cluster)
  for (const { binding } of authorizer.bindings.of(userInfo(node.identity.user), '')) {
    const { name, roleRef } = binding
    const why = reaches(authorizer, roleRef, group)
    if (why !== undefined) return `ClusterRoleBinding ${shown(name)} gives it ClusterRole ${shown(roleRef.name)}${why}`
  }
  return undefined
}

function reaches(
  authorizer: Authorizer,
  role: Parameters<Authorizer['rulesOf']>[0],
  group: string,
): string | undefined {
  const rules = authorizer.rulesOf(role, '')
  if (!rules) return ', which the fleet does not render'
  if (authorizer.isAggregated(role, '')) return ', which is aggregated from others'
  return rules.some(rule => creates(rule, group)) ? '' : undefined
}

/** An apply of an object that is not there asks for `create`; the name that a rule is limited to may be this one's. */
function creates({ verbs, apiGroups, resources }: PolicyRule, group: string): boolean {
  const has = (list: readonly string[], value: string) => list.includes('*') || list.includes(value)
  return has(verbs, 'create') && has(apiGroups, group) && resources.some(resource => !resource.includes('/'))
}

/** What may render roles or bindings of the whole cluster and could not be seen. */
function holeOf(index: FleetAnswers, facts: Facts, cluster: string): string | undefined {
  for (const node of facts.nodes()) {
    if (node.cluster !== cluster || (!node.error && !isIncomplete(node))) continue
    if (node.tenant === undefined || bindsClusterWide(index, node))
      return 'the fleet holds RBAC that could not be evaluated'
  }
  for (const kind of ['ClusterRole', 'ClusterRoleBinding'])
    for (const { object } of index.renderedAnywhere(cluster, `${RBAC_GROUP}/${kind}`))
      if (PARTS.some(part => hasUnknown(at(object.root, [part])))) return 'the fleet holds RBAC with unknown values'
  return undefined
}

const PARTS = ['aggregationRule', 'roleRef', 'rules', 'subjects']

/** What a confined account renders cannot bind any subject cluster-wide. */
function bindsClusterWide(index: FleetAnswers, { cluster, identity }: FleetNode): boolean {
  if (!identity.impersonated) return true
  const authorizer = index.authorizer(cluster)
  return authorizer.bindings
    .of(userInfo(identity.user), '')
    .some(({ binding }) => reaches(authorizer, binding.roleRef, RBAC_GROUP) !== undefined)
}

function hasUnknown(node: Node | undefined): boolean {
  if (node?.type === 'scalar') return node.opaque !== undefined
  if (node?.type === 'list') return node.items.some(hasUnknown)
  return node?.type === 'map' && [...node.fields.values()].some(({ value }) => hasUnknown(value))
}
