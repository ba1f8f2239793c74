import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { Slots } from '../../src/cluster/slots.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'

/** How long a node may wait for an answer before the others continue without it. */
const PATIENCE_MS = 2_000
/** How long an aborted turn may take to stop. */
const STOP_MS = 1_000

/** The reason shown for a node whose turn continues beside the run. */
export const LEFT_BEHIND =
  'the API server does not answer a request of this Kustomization. The request goes on beside the others, until it times out'

/** The turn of a removed node. */
export const END = 'end'

/** Wraps a client: its requests end with the turn and are its progress. */
export type Observe = (client: ClusterClient) => ClusterClient

interface Turn {
  /** What is done: the digest of an apply, END, or something else. */
  readonly what: string
  readonly abort: AbortController
  readonly done: Promise<void>
}

/**
 * The turns of a cluster's nodes. A turn without an answer for some time is left behind: it continues, and neither
 * other nodes nor this run nor the next one waits for it. A node has one turn at a time.
 */
export class NodeTurns {
  readonly #patienceMs: number
  readonly #turns = new Map<string, Turn>()
  #ended: ((key: string, ok: boolean) => void) | undefined

  constructor(patienceMs: number = PATIENCE_MS) {
    this.#patienceMs = patienceMs
  }

  /** `ended` is called when a turn that was left behind is over. `ok`: it did not throw. */
  onEnd(ended: (key: string, ok: boolean) => void): void {
    this.#ended = ended
  }

  /** Whether no turn is running. */
  get isIdle(): boolean {
    return this.#turns.size === 0
  }

  isBusy(key: string): boolean {
    return this.#turns.has(key)
  }

  /**
   * Runs `work` with a client whose requests end with the turn; `left`: it, or another turn of the node, continues.
   * Throws what `work` throws before it is left behind.
   */
  async run<T>(
    client: ClusterClient,
    at: { readonly key: string; readonly what: string },
    signal: AbortSignal,
    work: (client: ClusterClient, signal: AbortSignal, observe: Observe) => Promise<T>,
  ): Promise<T | 'left'> {
    const { key, what } = at
    if (this.#turns.has(key)) return 'left'
    const abort = new AbortController()
    const onAbort = () => abort.abort(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const progress = { at: performance.now(), waiting: 0 }
    const observe: Observe = one => observed(one, abort.signal, progress, what)
    const worked = work(observe(client), abort.signal, observe)
    let isLeft = false
    const ended = (ok: boolean) => {
      this.#turns.delete(key)
      if (isLeft) this.#ended?.(key, ok)
    }
    const done = worked.then(
      () => ended(true),
      () => ended(false),
    )
    this.#turns.set(key, { what, abort, done })
    const patience = this.#untilSilent(progress)
    try {
      const result = await Promise.race([worked, patience.left])
      isLeft = result === 'left'
      return result
    } finally {
      patience.cancel()
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Ends turns that were left behind and are no longer wanted. */
  async keep(isWanted: (key: string, what: string) => boolean): Promise<void> {
    const stopped: Promise<void>[] = []
    for (const [key, { what, abort, done }] of this.#turns) {
      if (isWanted(key, what)) continue
      abort.abort()
      stopped.push(done)
    }
    if (stopped.length > 0) await Promise.race([Promise.all(stopped), sleep(STOP_MS)])
  }

  async close(): Promise<void> {
    this.#ended = undefined
    const turns = [...this.#turns.values()]
    for (const { abort } of turns) abort.abort()
    await Promise.all(turns.map(({ done }) => done))
  }

  /** Resolves after that time without an answer. */
  #untilSilent(progress: Progress): { left: Promise<'left'>; cancel: () => void } {
    const { promise: left, resolve } = Promise.withResolvers<'left'>()
    let timer: NodeJS.Timeout
    const look = () => {
      const rest = progress.waiting > 0 ? this.#patienceMs : progress.at + this.#patienceMs - performance.now()
      if (rest <= 0) resolve('left')
      else timer = setTimeout(look, rest)
    }
    look()
    return { left, cancel: () => clearTimeout(timer) }
  }
}

/** When the last progress was, and how many requests still wait in this process, unknown to the API server. */
interface Progress {
  at: number
  waiting: number
}

/**
 * A client that notes progress: answered writes and dry runs. Repeated reads only wait for something, except at the end
 * of a node, which waits for deletions.
 */
function observed(client: ClusterClient, signal: AbortSignal, progress: Progress, what: string): ClusterClient {
  return {
    ...client,
    async request(actor, method, path, options = {}) {
      let waitsSince: number | undefined = performance.now()
      progress.waiting++
      const onSent = (isSent: boolean) => {
        const now = performance.now()
        if (waitsSince !== undefined) {
          progress.waiting--
          progress.at = Math.min(now, progress.at + now - waitsSince)
        }
        waitsSince = isSent ? undefined : now
        if (!isSent) progress.waiting++
      }
      try {
        return await client.request(actor, method, path, { ...options, onSent, signal: options.signal ?? signal })
      } finally {
        if (waitsSince !== undefined) progress.waiting--
        if (method !== 'GET' || what === END) progress.at = performance.now()
      }
    },
  }
}

/** How many nodes are applied at once by default. */
const LANES = 16
/** A slower node leaves its lane to the others and continues beside them. */
const SLOW_MS = 5000

type Ordered = Pick<ApprovedNode, 'key' | 'parent' | 'dependsOn' | 'suspend'> & {
  readonly settings?: Pick<ApprovedNode['settings'], 'readyExprs'>
}

interface Lanes<N> {
  readonly lanes?: number
  readonly slowMs?: number
  /**
   * Applies a node in its turn; true: completely; `left`: its turn continues beside the run, and what comes after it
   * does not begin. If it throws, the run ends and no other node begins.
   */
  readonly apply: (node: N) => Promise<boolean | 'left'>
  /** Whether the cluster reports a node as ready that is not applied because it or its parent is suspended. */
  readonly isReady?: (node: N) => boolean
  /** Called for a node that is not applied, with the reason. `dependency`: the key of the node that it waits for. */
  readonly held: (node: N, reason: string, dependency?: string) => void
}

/**
 * Applies nodes in parallel, each after the turn of its parent and after its dependencies were applied completely. A
 * node whose turn never comes is held, with the reason (cycles included). A suspended node holds its children: their
 * specs are its rendering; what depends on a ready one continues. A failed or slow node delays only what waits for it.
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
    // a held node ends its turn at once: what waits for it comes next
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
      // as in Flux, which reads the status of a dependency, whether or not it is suspended
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

/** The nodes that may begin after the turn of a node: its children and its dependents, in the order of the nodes. */
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
