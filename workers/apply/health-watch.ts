import type { ClusterClient } from '../../src/cluster/client.ts'
import { type Health, healthTargets, waitHealthy } from '../../src/cluster/health.ts'
import { idOf, parseExact } from '../../src/cluster/json.ts'
import { skipReason } from '../../src/cluster/ownership.ts'
import type { ObjectId } from '../../src/kube/object.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'

/** How long a run waits for health checks; slower ones continue beside it. */
const PATIENCE_MS = 2_000

/** `waiting`: the health checks still run. `none`: there is nothing to check. */
export type NodeHealth = (Health & { readonly tookMs: number }) | { readonly state: 'waiting' | 'none' }

/** Opens the cluster of a node's objects; only called if they are checked. */
type Open = () => Promise<ClusterClient>

/**
 * The health checks of a cluster's nodes. They continue from run to run, so that a slow node delays no other push; when
 * one ends that a run did not wait for, the cluster is reconciled again.
 */
export class HealthWatch {
  readonly #watches = new Map<string, Watch>()
  readonly #patienceMs: number
  #changed: (() => void) | undefined

  constructor(patienceMs: number = PATIENCE_MS) {
    this.#patienceMs = patienceMs
  }

  /** `changed` is called when a check ends that a run did not wait for. */
  onChange(changed: () => void): void {
    this.#changed = changed
  }

  /**
   * The health of a node as it was applied last. `changed`: objects were just changed, so earlier results are outdated.
   * `applied`: they were at least compared, so a finished check begins again.
   */
  async look(open: Open, node: ApprovedNode, what: 'changed' | 'applied' | 'settled'): Promise<NodeHealth> {
    const ids = appliedIds(node)
    if (healthTargets(node, ids).length === 0) {
      this.forget(node.key)
      return { state: 'none' }
    }
    const known = this.#watches.get(node.key)
    const isUsed =
      known?.digest === node.applyDigest &&
      what !== 'changed' &&
      (known.result === undefined || (what === 'settled' && known.result.state === 'healthy'))
    const watch = isUsed ? known : this.#start(open, node, ids)
    const patience = Promise.withResolvers<void>()
    const timer = setTimeout(patience.resolve, this.#patienceMs)
    await Promise.race([watch.done, patience.promise])
    clearTimeout(timer)
    if (watch.result) return watch.result
    watch.isMissed = true
    return { state: 'waiting' }
  }

  /** Stops the check of the node. */
  forget(key: string): void {
    this.#watches.get(key)?.stop()
    this.#watches.delete(key)
  }

  /** Forgets nodes that are not among these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#watches.keys()) if (!keys.has(key)) this.forget(key)
  }

  close(): void {
    this.#changed = undefined
    this.keep(new Set())
  }

  #start(open: Open, node: ApprovedNode, ids: readonly ObjectId[]): Watch {
    this.forget(node.key)
    const watch = new Watch(node.applyDigest)
    this.#watches.set(node.key, watch)
    watch.done = watch.run(open, node, ids).then(() => {
      if (watch.isMissed) this.#changed?.()
    })
    return watch
  }
}

class Watch {
  readonly digest: string
  readonly #controller = new AbortController()
  done: Promise<void> = Promise.resolve()
  result: Exclude<NodeHealth, { state: 'waiting' | 'none' }> | undefined
  /** A run went on without its result. */
  isMissed = false

  constructor(digest: string) {
    this.digest = digest
  }

  /** Never rejects. */
  async run(open: Open, node: ApprovedNode, ids: readonly ObjectId[]): Promise<void> {
    const begun = performance.now()
    try {
      const health = await waitHealthy(await open(), node, ids, this.#controller.signal)
      this.result = { ...health, tookMs: performance.now() - begun }
    } catch (error) {
      if (this.#controller.signal.aborted) return
      const reason = error instanceof Error ? error.message : String(error)
      this.result = { state: 'failed', reason, objects: [], tookMs: performance.now() - begun }
    }
  }

  stop(): void {
    this.isMissed = false
    this.#controller.abort()
  }
}

/** The ids of objects for health checks, without those that Flux leaves alone by their labels or annotations. */
function appliedIds({ objects, settings: { wait } }: ApprovedNode): ObjectId[] {
  if (!wait) return []
  return objects.flatMap(text => {
    const object = parseExact(text)
    return skipReason(object, undefined) === undefined ? [idOf(object)] : []
  })
}
