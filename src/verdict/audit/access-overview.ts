import type { Origin } from '../../base/origin.ts'
import { FleetIndex } from '../../fleet/facts/fleet-index.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { customScopes } from '../../kube/capabilities/scope.ts'
import { idOf, KUBERNETES_NAMESPACES, type KubeObject } from '../../kube/object.ts'
import type { Authorizer } from '../../kube/rbac/authorizer.ts'
import { customPlurals, ResourceTable } from '../../kube/rbac/resources.ts'
import { place } from './audit-item.ts'
import { type Changer, type GrantView, type NamespaceAccess, namespaceAccess } from './namespace-access.ts'

/** The role that a binding grants, as plain JSON. */
export interface RightView {
  readonly subject: string
  readonly binding: string
  readonly role: string
  readonly clusterWide: boolean
  /** Who makes it, where no file of the fleet does. */
  readonly madeBy: 'fleet' | 'capsule' | 'flux' | 'kubernetes'
  readonly origin?: Omit<Origin, 'via'>
}

/** A Flux object that can change the namespace, and its rights. */
export interface ChangerView
  extends Pick<Changer, 'kind' | 'namespace' | 'name' | 'repository' | 'tenant' | 'ownCluster'> {
  readonly user: string
  readonly impersonated: boolean
  readonly rights: readonly RightView[]
  /** The account that it can act as, which has them. */
  readonly by?: { readonly account: string; readonly way: string }
}

/** Who can change one namespace of one cluster. Plain JSON of bounded size. */
export interface AccessView {
  readonly cluster: string
  readonly namespace: string
  /** '' for the platform. */
  readonly tenant: string
  readonly changers: readonly ChangerView[]
  readonly others: readonly RightView[]
  readonly unknown: readonly string[]
  /** How many changers and others are not listed. */
  readonly left: number
}

/** Who can change each namespace of a fleet, tenant namespaces first, up to the size limit. */
export interface AccessOverview {
  readonly namespaces: readonly AccessView[]
  /** How many more there are. */
  readonly left: number
}

/** What is worked out at once, in Kustomizations times namespaces: a few tenths of a second. */
const BUDGET = 2_500
const MAX_LISTED = 60

/**
 * Lists who can change each namespace of a fleet, starting at index `from`, at least one namespace per call. Pure: the
 * result does not depend on how it is split into portions.
 */
export function accessOverview(fleet: Fleet, from = 0, budget = BUDGET): AccessOverview {
  const index = new FleetIndex(fleet)
  const asked = fleet.clusters.flatMap(({ name }) =>
    knownNamespaces(fleet, name).map(namespace => ({
      cluster: name,
      namespace,
      owned: index.ownerOf(name, namespace) !== undefined,
    })),
  )
  const nodes = Map.groupBy(fleet.nodes, node => node.cluster)
  const resources = new Map(fleet.clusters.map(({ name }) => [name, knownResources(fleet, [name])]))
  const namespaces: AccessView[] = []
  let spent = 0
  const sorted = [...asked.filter(one => one.owned), ...asked.filter(one => !one.owned)]
  for (const { cluster, namespace } of sorted.slice(from)) {
    spent += 1 + (nodes.get(cluster)?.length ?? 0)
    const table = resources.get(cluster)
    if ((spent > budget && namespaces.length > 0) || !table) break
    namespaces.push(viewOf(namespace, namespaceAccess(fleet, index, cluster, namespace, table)))
  }
  return { namespaces, left: Math.max(0, asked.length - from - namespaces.length) }
}

function viewOf(namespace: string, { cluster, tenant, changers, others, unknown }: NamespaceAccess): AccessView {
  const left = Math.max(0, changers.length - MAX_LISTED) + Math.max(0, others.length - MAX_LISTED)
  return {
    cluster,
    namespace,
    tenant,
    changers: changers.slice(0, MAX_LISTED).map(changerView),
    others: others.slice(0, MAX_LISTED).map(rightView),
    unknown: unknown.slice(0, MAX_LISTED),
    left,
  }
}

function changerView({ identity: { user, impersonated }, grants, by, ...changer }: Changer): ChangerView {
  const held = by ? [by.grant] : grants.filter(({ covered }) => !covered)
  return {
    ...{ ...changer, user, impersonated },
    rights: held.slice(0, MAX_LISTED).map(rightView),
    ...(by ? { by: { account: by.account, way: by.way } } : {}),
  }
}

function rightView({ subject, binding, role, clusterWide, from }: GrantView): RightView {
  const origin = from.by === 'fleet' ? { origin: place(from.origin) } : {}
  return { subject, binding, role, clusterWide, madeBy: from.by, ...origin }
}

/** Namespaces that every cluster has. */
const ALWAYS = ['default', ...KUBERNETES_NAMESPACES]

/** The resources of these clusters, including the custom ones that the platform defines. */
export function knownResources(fleet: Fleet, clusters: readonly string[]): ResourceTable {
  const platform = fleet.nodes.filter(node => clusters.includes(node.cluster) && node.tenant === undefined)
  const objects: KubeObject[] = platform.flatMap(node => node.objects)
  return new ResourceTable(customScopes(objects), customPlurals(objects))
}

/** The namespaces that the fleet creates or deploys to on a cluster, sorted. */
export function knownNamespaces(fleet: Fleet, cluster: string): string[] {
  const namespaces = new Set(ALWAYS)
  for (const node of fleet.nodes) {
    if (node.cluster !== cluster) continue
    namespaces.add(node.namespace)
    for (const object of node.objects) {
      const { kind, namespace, name } = idOf(object)
      if (namespace) namespaces.add(namespace)
      else if (kind === 'Namespace' && name) namespaces.add(name)
    }
  }
  return [...namespaces].sort()
}

/** Whether a binding on the cluster has this user as a subject of kind User. */
export function isKnownUser(authorizer: Authorizer, user: string): boolean {
  return authorizer.bindings
    .namespaces()
    .some(namespace =>
      authorizer.bindings.of({ name: user, groups: [] }, namespace).some(({ subject }) => subject.kind === 'User'),
    )
}
