import type { Tree } from '../../git/tree.ts'
import type { Cluster, Fleet, FleetNode } from '../model/fleet.ts'
import type { FleetInput } from '../model/input.ts'
import { isComplete, isIncomplete } from '../model/is-complete.ts'
import { refKey } from '../model/ref.ts'

/** More first parents of a commit are not looked at. */
export const MAX_EARLIER = 20

/** What the fleet's repository held at a commit before. */
export interface EarlierState {
  readonly commit: string
  readonly tree: Tree
}

/** The first parents of the commit of a fleet's repository, the next one first. */
export interface EarlierStates {
  readonly states: readonly EarlierState[]
  /** There are no more, or no more are looked at. */
  readonly isAll: boolean
}

type Build = (input: FleetInput) => Fleet

interface BuiltWithEarlier {
  readonly fleet: Fleet
  readonly input: FleetInput
  /** Some node builds in none of the states: give more of them, if there are any. */
  readonly isOpen: boolean
}

/**
 * Builds a fleet; where nodes of the platform do not build as a whole, with what they were in the last of `earlier` in which
 * they did; nodes that build in none of them are unknown. `buildEarlier` builds these. A fleet that builds costs nothing more.
 */
export function buildWithEarlier(
  build: Build,
  input: FleetInput,
  earlier: EarlierStates,
  buildEarlier: Build = build,
): BuiltWithEarlier {
  const nodes = new Map<string, FleetNode>()
  const clusters = new Map<string, Cluster>()
  const since = new Map<string, string>()
  const states: Fleet[] = []
  const { config: _config, ...plain } = input
  const stateAt = (index: number) => {
    states[index] ??= buildEarlier({ ...plain, fleet: { ...input.fleet, ...earlier.states[index]! } })
    return states[index]
  }
  let built = { fleet: build(input), input }
  // what comes back leads to more: each round finds at least one node
  for (;;) {
    const missing = unbuilt(built.fleet).filter(node => !nodes.has(node.key))
    const before = nodes.size
    let open = missing
    for (let index = 0; index < earlier.states.length && open.length > 0; index++) {
      const state = stateAt(index)
      const known = new Map(state.nodes.map(node => [node.key, node]))
      for (const { key, parent, cluster } of open) {
        const node = known.get(key)
        if (!node || !isComplete(node)) continue
        nodes.set(key, node)
        const { commit } = index === 0 ? input.fleet : earlier.states[index - 1]!
        if (commit !== '') since.set(key, commit)
        const was = parent === undefined && state.clusters.find(({ name }) => name === cluster)
        if (was) clusters.set(cluster, was)
      }
      open = open.filter(({ key }) => !nodes.has(key))
    }
    if (nodes.size === before) return earlier.isAll ? marked(build, built, open) : { ...built, isOpen: open.length > 0 }
    const retain = { nodes: new Map(nodes), clusters: new Map(clusters), since: new Map(since), isCompared: false }
    const next = { ...input, retain }
    built = { fleet: build(next), input: next }
  }
}

/** Nobody knows what these nodes restricted: that is part of the answer. */
function marked(
  build: Build,
  built: { readonly fleet: Fleet; readonly input: FleetInput },
  open: readonly FleetNode[],
): BuiltWithEarlier {
  if (open.length === 0) return { ...built, isOpen: false }
  const { retain = { nodes: new Map(), clusters: new Map(), isCompared: false } } = built.input
  const input = { ...built.input, retain: { ...retain, unknown: new Set(open.map(({ key }) => key)) } }
  return { fleet: build(input), input, isOpen: true }
}

/** Nodes of the platform whose content is the fleet's own, which an earlier commit may have built. */
function unbuilt({ nodes, repositories: [own] }: Fleet): FleetNode[] {
  return nodes.filter(node => {
    const { tenant, source, error, holes = [] } = node
    if (tenant !== undefined || !isIncomplete(node) || source.opaque !== undefined) return false
    if (error?.code === 'evaluation-limits' || (!error && holes.every(({ remote }) => remote !== undefined)))
      return false
    return source.url === '' || (source.url === own?.url && refKey(source.ref) === refKey(own.ref))
  })
}
