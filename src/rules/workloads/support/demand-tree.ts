import type { Node, Path } from '../../../kube/node.ts'
import type { PodRequirement } from './pod-demand.ts'

/** Demands by the steps of their paths, so that an object is walked once for all of them. */
export interface RequirementTree {
  readonly requirements: readonly PodRequirement[]
  readonly steps: ReadonlyMap<string, RequirementTree>
}

/** A field that a demand is about, below the node that was walked. */
export interface Asked {
  readonly path: Path
  readonly node: Node
  readonly requirement: PodRequirement
}

/** Makes a tree of demands; done once, when the program starts. */
export function requirementTree(requirements: readonly PodRequirement[], depth = 0): RequirementTree {
  const here = requirements.filter(({ path }) => path.length === depth)
  const below = Map.groupBy(
    requirements.filter(({ path }) => path.length > depth),
    ({ path }) => String(path[depth]),
  )
  return {
    requirements: here,
    steps: new Map([...below].map(([step, list]) => [step, requirementTree(list, depth + 1)])),
  }
}

/** The fields of a node that demands are about, where they are set. */
export function* askedOf(node: Node, tree: RequirementTree, path: Path = []): Iterable<Asked> {
  for (const requirement of tree.requirements) yield { path, node, requirement }
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
export const firstSteps = (tree: RequirementTree): ReadonlySet<string> => new Set(tree.steps.keys())
