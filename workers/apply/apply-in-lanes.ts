import type { ApprovedNode } from '../../src/approval/approve.ts'
import { Slots } from '../../src/cluster/slots.ts'

/** How many nodes are applied at once, where nothing else is said. */
const LANES = 16
/** A node that takes longer leaves its lane to the others and goes on beside them. */
const SLOW_MS = 5000

type Ordered = Pick<ApprovedNode, 'key' | 'parent' | 'dependsOn' | 'suspend'> & {
  readonly settings?: Pick<ApprovedNode['settings'], 'readyExprs'>
}

interface Lanes<N> {
  readonly lanes?: number
  readonly slowMs?: number
  /**
   * Applies a node whose turn it is; true: completely; `left`: its turn goes on beside the run, and what comes after it does
   * not begin. What it throws ends the run: no other node begins.
   */
  readonly apply: (node: N) => Promise<boolean | 'left'>
  /** Whether the cluster says that a node is ready, which is not applied because it or its parent is suspended. */
  readonly isReady?: (node: N) => boolean
  /** Told of a node that is not applied, and why. `dependency`: the key of the one that it waits for. */
  readonly held: (node: N, reason: string, dependency?: string) => void
}

/**
 * Applies nodes side by side, each after the turn of its parent and after what it depends on was applied completely. A
 * node whose turn never comes is held, with the reason (circles included). A suspended node holds its children too:
 * their specs are its rendering, which is not to be applied now; what depends on one that is ready goes on. Who fails or is slow delays only what waits for it.
 */
export async function applyInLanes<N extends Ordered>(nodes: readonly N[], work: Lanes<N>): Promise<void> {
  const slots = new Slots({
    count: work.lanes ?? LANES,
    slowMs: work.slowMs ?? SLOW_MS,
    slow: Number.POSITIVE_INFINITY,
  })
  const waiting = new Map(nodes.map(node => [node.key, node]))
  const complete = new Set<string>()
  const suspendedBy = new Map<string, string>()
  const followers = followersOf(nodes)
  const busy = new Set<string>()
  const left = new Set<string>()
  const failures: unknown[] = []
  const over = Promise.withResolvers<void>()

  const suspension = ({ key, parent, suspend }: N): string | undefined =>
    suspend ? key : parent === null ? undefined : suspendedBy.get(parent)
  const isOver = (key: string) => !waiting.has(key) && !busy.has(key) && !left.has(key)
  const missing = (node: N) => {
    const asked = new Set(node.settings?.readyExprs.map(({ dependency }) => `${node.key.split('/')[0]}/${dependency}`))
    // an expression decides instead, once the turn of the dependency is over
    return node.dependsOn.find(key => !complete.has(key) && !(asked.has(key) && isOver(key)))
  }
  const isReady = (node: N) => {
    if (node.parent !== null && !isOver(node.parent)) return false
    return suspension(node) !== undefined || missing(node) === undefined
  }
  const turn = async (node: N) => {
    await slots.run(async () => {
      if (failures.length > 0) return
      try {
        const applied = await work.apply(node)
        if (applied === 'left') left.add(node.key)
        else if (applied) complete.add(node.key)
      } catch (error) {
        failures.push(error)
      }
    })
    busy.delete(node.key)
    start(followers.get(node.key) ?? [])
    if (busy.size === 0) over.resolve()
  }
  const start = (candidates: readonly N[]) => {
    // a held node ends its turn at once: what waits for it is looked at next
    const queue = [...candidates]
    for (const node of queue) {
      if (!waiting.has(node.key) || !isReady(node)) continue
      waiting.delete(node.key)
      const by = suspension(node)
      if (by === undefined) {
        busy.add(node.key)
        void turn(node)
        continue
      }
      suspendedBy.set(node.key, by)
      // as Flux, which asks the status of a dependency, whether or not it is suspended
      if (work.isReady?.(node)) complete.add(node.key)
      work.held(node, by === node.key ? 'it is suspended' : `${by} is suspended`)
      queue.push(...(followers.get(node.key) ?? []))
    }
  }

  start(nodes)
  if (busy.size > 0) await over.promise
  if (failures.length > 0) throw failures[0]
  for (const node of waiting.values()) {
    const dependency = missing(node)
    const parent = `its parent ${node.parent} waits`
    work.held(node, dependency === undefined ? parent : `its dependency ${dependency} is not ready`, dependency)
  }
}

/** Who may be ready when the turn of a node is over: its children and what depends on it, in the order of the nodes. */
function followersOf<N extends Ordered>(nodes: readonly N[]): Map<string, N[]> {
  const followers = new Map<string, N[]>()
  for (const node of nodes) {
    for (const before of new Set([...node.dependsOn, ...(node.parent === null ? [] : [node.parent])])) {
      const list = followers.get(before) ?? []
      list.push(node)
      followers.set(before, list)
    }
  }
  return followers
}
