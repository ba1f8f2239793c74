import type { Cluster, Fleet, FleetNode } from './fleet.ts'
import { isIncomplete } from './is-complete.ts'

/** What a fleet was before, so that a build that is not complete relaxes nothing of it. */
export interface Retain {
  /** Nodes by their keys: where one does not build as a whole, what it rendered then stays a fact. */
  readonly nodes: ReadonlyMap<string, FleetNode>
  /** Clusters by their names: where the root does not build as a whole, the flags of Flux stay. */
  readonly clusters: ReadonlyMap<string, Cluster>
  /** It is what a change is compared with: whoever was a tenant there stays one for this verdict. */
  readonly isCompared: boolean
  /** Keys of nodes of which no complete build was found: what they restricted is not known. */
  readonly unknown?: ReadonlySet<string>
  /** Of nodes that an earlier commit built: the commit since which they do not build. A working copy has none. */
  readonly since?: ReadonlyMap<string, string>
}

const known = new WeakMap<Fleet, Retain>()

/** All of a fleet, for a change that is compared with it. The same for the same fleet. */
export function retainOf(base: Fleet): Retain {
  const before = known.get(base)
  if (before) return before
  const nodes = new Map(base.nodes.map(node => [node.key, node]))
  const clusters = new Map(base.clusters.map(cluster => [cluster.name, cluster]))
  const retain = { nodes, clusters, isCompared: true }
  known.set(base, retain)
  return retain
}

/** Whether what a node restricts is not known: no commit built it, and neither did the state that a change is compared with. */
export function isUnknown(
  node: Parameters<typeof isIncomplete>[0] & { readonly key: string },
  retain?: Retain,
): boolean {
  if (!retain) return false
  return retain.unknown?.has(node.key) === true || (retain.nodes.get(node.key)?.unknown === true && isIncomplete(node))
}
