import { EventCorrelator } from '../../src/cluster/status/event-correlator.ts'
import { HealthWatch } from './health-watch.ts'
import { NodeRetries } from './node-retries.ts'
import type { BoardMemory } from './status-board.ts'

interface ClusterMemoryOptions {
  readonly lanes?: number
  readonly now?: () => number
  /** How long a run waits for the health of a node. */
  readonly patienceMs?: number
  /** Address of the cluster's notification-controller. */
  readonly events?: string | undefined
}

/** What a process keeps of one cluster between two runs. Without it everything is done again, and nothing goes wrong. */
export class ClusterMemory {
  readonly retries: NodeRetries
  readonly health: HealthWatch
  /** How many nodes are applied at once; absent: as many as usual. */
  readonly lanes: number | undefined
  /** What was told last about the Kustomizations of the cluster, and where it is told besides. */
  readonly board: BoardMemory
  readonly #suspects = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor({ lanes, now, patienceMs, events }: ClusterMemoryOptions = {}) {
    this.lanes = lanes
    this.board = { correlator: new EventCorrelator(), events }
    this.retries = new NodeRetries(now)
    this.health = new HealthWatch(patienceMs)
  }

  /** What is on the cluster may be something else than what was applied: look at the node in the next run. */
  suspect(key: string): void {
    this.#suspects.add(key)
  }

  isSuspect(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** The node is looked at now: whoever suspects it from now on means something that this look may not see. */
  clear(key: string): void {
    this.#suspects.delete(key)
  }

  /** Calls `run` when the first of the nodes that failed may be tried again. */
  retryLater(run: () => void): void {
    clearTimeout(this.#timer)
    const ms = this.retries.nextInMs()
    if (ms !== undefined) this.#timer = setTimeout(run, ms).unref()
  }

  close(): void {
    this.health.close()
    clearTimeout(this.#timer)
  }
}
