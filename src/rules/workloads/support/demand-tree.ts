import type { Node, Path } from '../../../kube/node.ts'
import type { PodDemand } from './pod-demand.ts'

/** Demands by the steps of their paths, so that an object is walked once for all of them. */
export interface DemandTree {
  readonly demands: readonly PodDemand[]
  readonly steps: ReadonlyMap<string, DemandTree>
}

/** A field that a demand is about, below the node that was walked. */
export interface Asked {
  readonly path: Path
  readonly node: Node
  readonly demand: PodDemand
}

/** Makes a tree of demands; done once, when the program starts. */
export function demandTree(demands: readonly PodDemand[], depth = 0): DemandTree {
  const here = demands.filter(({ path }) => path.length === depth)
  const below = Map.groupBy(
    demands.filter(({ path }) => path.length > depth),
    ({ path }) => String(path[depth]),
  )
  return { demands: here, steps: new Map([...below].map(([step, list]) => [step, demandTree(list, depth + 1)])) }
}

/** The fields of a node that demands are about, where they are set. */
export function* askedOf(node: Node, tree: DemandTree, path: Path = []): Iterable<Asked> {
  for (const demand of tree.demands) yield { path, node, demand }
  if (tree.steps.size === 0 || node.type === 'scalar') return
  if (node.type === 'list') {
    const each = tree.steps.get('*')
    if (each) for (const [index, item] of node.items.entries()) yield* askedOf(item, each, [...path, index])
    return
  }
  for (const [key, { value }] of node.fields) {
    const next = tree.steps.get(key)
    if (next && key !== '*') yield* askedOf(value, next, [...path, key])
  }
}

/** The names that fields may begin with for a demand to be about them. */
export const firstSteps = (tree: DemandTree): ReadonlySet<string> => new Set(tree.steps.keys())
