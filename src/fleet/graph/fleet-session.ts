import { work } from '../../base/work.ts'
import type { Tree } from '../../git/tree.ts'
import { type Cluster, type Fleet, type FleetNode, isComplete, isIncomplete, nodesByKey } from '../model/fleet.ts'
import type { FleetInput, SourceContent } from '../model/input.ts'
import { sameAccess, sameDeep, sameNode } from '../model/same-node.ts'
import { refKey } from '../model/source-ref.ts'
import { RenderMemory, type WalkProgress, type Watch } from '../rendering/render-memory.ts'
import { buildFleet } from './build-fleet.ts'
import { type FleetState, replaceNodes, shapeOf } from './replace-nodes.ts'

/** States that are kept if the caller sets no number: the branch that clusters follow, and the changes that are looked at beside it. */
const MAX_STATES = 4

/**
 * Builds states of one fleet one after the other. Every answer is the one that buildFleet gives for the same input, but
 * what did not change is not rendered again, and is the same object as before.
 */
export class FleetSession {
  #states: FleetState[] = []
  readonly #maxStates: number
  /** Follows what is being worked on. */
  watch: Watch | undefined

  constructor(maxStates = MAX_STATES) {
    this.#maxStates = maxStates
  }

  /** `onProgress` is called while the fleet is walked as a whole. */
  build(given: FleetInput, onProgress?: (progress: WalkProgress) => void): Fleet {
    const nearest = this.#nearest(given)
    const input = nearest ? withKnownTrees(given, nearest.input) : given
    const state = (nearest && replaceNodes(nearest, input)) ?? this.#walk(input, nearest, onProgress)
    this.#states = [state, ...this.#states.filter(one => one !== state)].slice(0, this.#maxStates)
    return state.fleet
  }

  #walk(
    input: FleetInput,
    before: FleetState | undefined,
    onProgress: ((progress: WalkProgress) => void) | undefined,
  ): FleetState {
    const known = before && new Map([...before.rendered, ...before.since])
    const memory = new RenderMemory(known, onProgress && counting(onProgress, before?.fleet.nodes.length), this.watch)
    const built = buildFleet(input, memory)
    work.rendered += memory.count
    work.walked++
    const fleet = before ? keepUnchanged(built, before.fleet) : built
    const kept = new Set([...fleet.nodes.map(node => node.key), ...fleet.clusters.map(cluster => cluster.name)])
    const rendered = [...memory.rendered].filter(([key]) => kept.has(key.split(' ')[0]!))
    return { input, fleet, rendered: new Map(rendered), since: new Map(), shape: shapeOf(fleet), roots: {} }
  }

  /** The state that differs in the fewest trees; the latest of several. */
  #nearest(input: FleetInput): FleetState | undefined {
    let best: { state: FleetState; distance: number } | undefined
    for (const state of this.#states) {
      const distance = distanceOf(state.input, input, best?.distance ?? Number.POSITIVE_INFINITY)
      if (!best || distance < best.distance) best = { state, distance }
      if (best.distance === 0) break
    }
    return best?.state
  }
}

function counting(onProgress: (progress: WalkProgress) => void, total: number | undefined) {
  let [rendered, known] = [0, 0]
  return (spared: boolean) => {
    if (spared) known++
    else rendered++
    onProgress({ rendered, known, ...(total === undefined ? {} : { total }) })
  }
}

/** How many trees are others; counting ends at `limit`. */
function distanceOf(a: FleetInput, b: FleetInput, limit: number): number {
  let distance = a.fleet.tree.id === b.fleet.tree.id ? 0 : 1
  if (a.config?.id !== b.config?.id) distance++
  if (a.values?.digest !== b.values?.digest) distance++
  distance += Math.abs(a.sources.length - b.sources.length)
  if (a.sources === b.sources) return distance
  for (let index = 0; index < b.sources.length && distance < limit; index++) {
    const [one, other] = [a.sources[index], b.sources[index]!]
    if (one !== other && one?.tree !== other.tree && one?.tree.id !== other.tree.id) distance++
  }
  return distance
}

const isAt = (known: SourceContent | undefined, source: SourceContent) => known === source || known?.url === source.url

/** The same input with the trees of `known` where content is the same, so that what is kept beside them still counts. */
function withKnownTrees(input: FleetInput, known: FleetInput): FleetInput {
  const same = (tree: Tree, other: Tree | undefined) => (other?.id === tree.id ? other : tree)
  const urls = new Map<string, Tree>()
  const aligned = input.sources.every((source, index) => isAt(known.sources[index], source))
  if (!aligned) for (const { url, tree } of known.sources) urls.set(`${url} ${tree.id}`, tree)
  const sources = input.sources.map((source, index) => {
    if (aligned && known.sources[index] === source) return source
    const other = aligned ? known.sources[index]?.tree : urls.get(`${source.url} ${source.tree.id}`)
    const tree = same(source.tree, other)
    return tree === source.tree ? source : { ...source, tree }
  })
  return { ...input, fleet: { ...input.fleet, tree: same(input.fleet.tree, known.fleet.tree) }, sources }
}

/** The same fleet, whose parts that are as they were before are the very parts of before. */
function keepUnchanged(fleet: Fleet, before: Fleet): Fleet {
  const nodes = nodesByKey(before.nodes)
  const clusters = new Map(before.clusters.map(cluster => [cluster.name, cluster]))
  const kept = fleet.nodes.map(node => {
    const known = nodes.get(node.key)
    return known && sameNode(known, node) ? known : node
  })
  return {
    ...fleet,
    nodes: kept,
    clusters: fleet.clusters.map((cluster): Cluster => {
      const known = clusters.get(cluster.name)
      return known && sameDeep(known, cluster) ? known : cluster
    }),
    tenants: sameDeep(before.tenants, fleet.tenants) ? before.tenants : fleet.tenants,
    config: sameDeep(before.config, fleet.config) ? before.config : fleet.config,
    proposed: sameDeep(before.proposed, fleet.proposed) ? before.proposed : fleet.proposed,
    ...(fleet.access ? { access: sameAccess(before.access, fleet.access) ? before.access! : fleet.access } : {}),
  }
}

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
      const known = nodesByKey(state.nodes)
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

/** Marks nodes whose restrictions are unknown. */
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
