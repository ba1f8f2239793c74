import type { Cluster, Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { isRoot } from '../../flux/references.ts'
import { canonical } from '../../kube/node.ts'
import type { ObjectId } from '../../kube/object.ts'
import {
  type Changes,
  type Counts,
  LIMITS,
  type Limits,
  NO_COUNTS,
  type NodeChange,
  Room,
  sumCounts,
  type TenantChange,
} from './changes.ts'
import { FleetComparison } from './compare-fleets.ts'
import { nodeChange } from './node-change.ts'
import { givesRights, rightChanges } from './right-changes.ts'
import { SecretsBeside } from './secret-words.ts'

/**
 * What a change does to what the clusters of a fleet get. Costs what differs; never throws for what a repository holds.
 * No value of a Secret is in it, nothing encrypted and nothing that only a cluster knows.
 */
export function changesOf(base: Fleet, head: Fleet, limits: Limits = LIMITS): Changes {
  const fleets = new FleetComparison(base, head)
  const secrets = new SecretsBeside(base, head)
  const room = new Room(limits)
  const nodes: NodeChange[] = []
  const counts: Counts[] = []
  const granting = new Map<string, ObjectId[]>()
  for (const pair of fleets.pairs) {
    const change = nodeChange(pair, fleets, secrets.of(pair.was, pair.now), room)
    if (!change) continue
    counts.push(change.counts)
    const given = pair.objects.map(({ id }) => id).filter(givesRights)
    if (given.length > 0) granting.set(change.cluster, [...(granting.get(change.cluster) ?? []), ...given])
    nodes.push(change)
  }
  room.left.nodes = Math.max(0, nodes.length - limits.nodes)
  const rights = [...granting.keys()]
    .sort()
    .flatMap(cluster => rightChanges(base, head, cluster, granting.get(cluster)!))
  room.left.rights = Math.max(0, rights.length - limits.rights)
  const tenants = tenantChanges(base, head, limits.placesOfTenant)
  room.left.tenants = Math.max(0, tenants.length - limits.tenants)
  const clusters = clusterChanges(base, head)
  room.left.clusters = Math.max(0, clusters.length - limits.clusters)
  return {
    nodes: mostImportant(nodes, limits.nodes),
    rights: rights.slice(0, limits.rights),
    tenants: tenants.slice(0, limits.tenants),
    clusters: clusters.slice(0, limits.clusters),
    totals: counts.length === 0 ? NO_COUNTS : sumCounts(counts),
    hidden: 0,
    left: room.left,
  }
}

/** As many as there may be, those first of which something is deleted, in the order in which they come. */
function mostImportant(nodes: readonly NodeChange[], most: number): readonly NodeChange[] {
  if (nodes.length <= most) return nodes
  const deletes = ({ counts }: NodeChange) => counts.deleted > 0
  const kept = new Set([...nodes.filter(deletes), ...nodes.filter(node => !deletes(node))].slice(0, most))
  return nodes.filter(node => kept.has(node))
}

/** Tenants that come or go; unknown while something of the platform cannot be rendered. */
function tenantChanges(base: Fleet, head: Fleet, places: number): TenantChange[] {
  const isWhole = (fleet: Fleet) =>
    fleet.nodes.every(({ tenant, error }) => tenant !== undefined || error === undefined)
  if (base.tenants === head.tenants || !isWhole(base) || !isWhole(head)) return []
  const without = (fleet: Fleet, other: Fleet, change: TenantChange['change']): TenantChange[] => {
    const names = new Set(other.tenants.map(({ name }) => name))
    return fleet.tenants.flatMap(({ name, clusters, namespaces }) => {
      if (names.has(name)) return []
      const left = {
        clusters: Math.max(0, clusters.length - places),
        namespaces: Math.max(0, namespaces.length - places),
      }
      return [{ name, change, clusters: clusters.slice(0, places), namespaces: namespaces.slice(0, places), left }]
    })
  }
  return [...without(head, base, 'added'), ...without(base, head, 'removed')]
}

/** Clusters that come, go, or start or apply otherwise than before, though no Kustomization renders their start. */
function clusterChanges(base: Fleet, head: Fleet): Changes['clusters'] {
  const [before, after] = [byName(base), byName(head)]
  const added = [...after.keys()].filter(name => !before.has(name)).sort()
  const removed = [...before.keys()].filter(name => !after.has(name)).sort()
  const changed = [...after.keys()].sort().flatMap(name => {
    const was = before.get(name)
    const fields = was ? changedFields([base, was], [head, after.get(name)!]) : []
    return fields.length > 0 ? [{ name, change: 'changed' as const, fields }] : []
  })
  return [
    ...added.map(name => ({ name, change: 'added' as const })),
    ...removed.map(name => ({ name, change: 'removed' as const })),
    ...changed,
  ]
}

const byName = ({ clusters }: Fleet) => new Map(clusters.map(cluster => [cluster.name, cluster]))

type Side = readonly [fleet: Fleet, cluster: Cluster]

function changedFields(was: Side, now: Side): string[] {
  if (was[1] === now[1] && was[0].nodes === now[0].nodes) return []
  const [old, young] = [factsOf(was), factsOf(now)]
  return Object.keys(young).filter(name => old[name] !== young[name])
}

/** What a cluster starts with and the flags of its controllers, as text. */
function factsOf([fleet, { name, path, lockdown }]: Side): Record<string, string> {
  const { flux, ...flags } = lockdown
  const text = (value: unknown) => JSON.stringify(value ?? null)
  return {
    'folder that it starts from': path,
    'multi-tenancy flags': text(Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1))),
    'version of Flux': text(flux?.version),
    'controllers of Flux': text(
      flux?.controllers.map(one => [one.name, one.flags.map(flag => [flag.name, flag.value])]),
    ),
    'Kustomization that it starts with': unrenderedRoot(fleet.nodes.find(node => isStart(node, name))),
  }
}

const isStart = ({ cluster, parent, hub }: FleetNode, name: string) =>
  cluster === name && parent === undefined && hub === undefined

/** One that it renders itself is an object that changes. */
function unrenderedRoot(root: FleetNode | undefined): string {
  if (!root || root.objects.some(object => isRoot(object, root.kustomization))) return ''
  return `${canonical(root.kustomization.root)} ${JSON.stringify([root.source.id, root.source.url, root.source.ref])}`
}
