import type { Cluster, Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { isRoot } from '../flux/flux-object.ts'
import { canonical } from '../kube/node.ts'
import type { Changes } from './changes.ts'

/** Clusters that come, go, or start or apply otherwise than before, though no Kustomization renders what says so. */
export function clusterChanges(base: Fleet, head: Fleet): Changes['clusters'] {
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

/** What a cluster starts with and what its controllers are told, as text. */
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
