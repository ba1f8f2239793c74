import type { ClusterClient } from '../../src/cluster/client.ts'
import { type Health, healthTargets, waitHealthy } from '../../src/cluster/health.ts'
import { idOf, parseExact } from '../../src/cluster/json.ts'
import { skipReason } from '../../src/cluster/ownership.ts'
import type { ObjectId } from '../../src/kube/object.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'

/** How long a run waits for what is ready soon; what takes longer goes on beside it. */
const PATIENCE_MS = 2_000

/** `waiting`: the health checks still run. `none`: there is nothing to check. */
export type NodeHealth = (Health & { readonly tookMs: number }) | { readonly state: 'waiting' | 'none' }

/** Opens the cluster on which the objects of a node are; only called where they are looked at. */
type Open = () => Promise<ClusterClient>

/**
 * The health checks of a cluster's nodes. They go on from run to run, so that a node that becomes healthy in ten minutes
 * keeps no push of anybody waiting; when one is over that a run did not wait for, the cluster is reconciled again.
 */
export class HealthWatch {
  readonly #watches = new Map<string, Watch>()
  readonly #patienceMs: number
  #changed: (() => void) | undefined

  constructor(patienceMs: number = PATIENCE_MS) {
    this.#patienceMs = patienceMs
  }

  /** Called when a check is over that a run did not wait for. */
  onChange(changed: () => void): void {
    this.#changed = changed
  }

  /**
   * The health of a node as it was applied last. `changed`: objects were changed just now, so that what was known of them
   * is old. `applied`: they were at least looked at, so that a check that is over begins again.
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

  /** It is applied no more. */
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

/** One health check. */
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

/** What an apply of the node does not leave alone by its own words, as far as health checks ask for it. */
function appliedIds({ objects, settings: { wait } }: ApprovedNode): ObjectId[] {
  if (!wait) return []
  return objects.flatMap(text => {
    const object = parseExact(text)
    return skipReason(object, undefined) === undefined ? [idOf(object)] : []
  })
}
