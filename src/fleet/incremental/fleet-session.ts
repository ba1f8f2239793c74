import type { Tree } from '../../git/tree.ts'
import { buildFleet } from '../graph/build-fleet.ts'
import type { Cluster, Fleet } from '../model/fleet.ts'
import type { FleetInput, SourceContent } from '../model/input.ts'
import { sameDeep } from '../model/same-deep.ts'
import { sameNode } from '../model/same-node.ts'
import { RenderMemory } from '../rendering/render-memory.ts'
import type { WalkProgress, Watch, Work } from '../rendering/work.ts'
import { sameAccess } from '../sources/same-access.ts'
import { type FleetState, shapeOf } from './fleet-state.ts'
import { replaceNodes } from './replace-nodes.ts'

/** States that are kept if the caller sets no number: the branch that clusters follow, and the changes that are looked at beside it. */
const MAX_STATES = 4

/**
 * Builds states of one fleet one after the other. Every answer is the one that buildFleet gives for the same input, but
 * what did not change is not rendered again, and is the same object as before.
 */
export class FleetSession {
  readonly work: Work = { rendered: 0, walked: 0 }
  #states: FleetState[] = []
  readonly #maxStates: number
  /** Whoever follows what is worked on. */
  watch: Watch | undefined

  constructor(maxStates = MAX_STATES) {
    this.#maxStates = maxStates
  }

  /** `onProgress` hears how far it is, where the fleet is walked as a whole. */
  build(given: FleetInput, onProgress?: (progress: WalkProgress) => void): Fleet {
    const nearest = this.#nearest(given)
    const input = nearest ? withKnownTrees(given, nearest.input) : given
    const state = (nearest && replaceNodes(nearest, input, this.work)) ?? this.#walk(input, nearest, onProgress)
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
    this.work.rendered += memory.count
    this.work.walked++
    const fleet = before ? keepUnchanged(built, before.fleet) : built
    const kept = new Set([...fleet.nodes.map(node => node.key), ...fleet.clusters.map(cluster => cluster.name)])
    const rendered = [...memory.rendered].filter(([key]) => kept.has(key.split(' ')[0]!))
    return { input, fleet, rendered: new Map(rendered), since: new Map(), shape: shapeOf(fleet) }
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
  const nodes = new Map(before.nodes.map(node => [node.key, node]))
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
