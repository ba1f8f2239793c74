import type { Inventory } from '../../src/cluster/inventory.ts'
import type { RemoteClients } from '../../src/cluster/remote/remote-clients.ts'
import { EventCorrelator } from '../../src/cluster/status/event-correlator.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { DriftLog } from './drift-log.ts'
import { HealthWatch } from './health-watch.ts'
import { Moves } from './moves.ts'
import { NodeRetries } from './node-retries.ts'
import { NodeTurns } from './node-turns.ts'
import type { RevisionQueue } from './revision-queue.ts'
import type { BoardMemory } from './status-board.ts'

interface ClusterMemoryOptions {
  readonly lanes?: number
  readonly now?: () => number
  /** How long a run waits for the health of a node. */
  readonly patienceMs?: number
  /** How long a node may be without an answer before a run goes on without it. */
  readonly silenceMs?: number
  /** Address of the cluster's notification-controller. */
  readonly events?: string | undefined
  /** Where kubeConfigs of the cluster may lead; absent: nowhere. */
  readonly remotes?: RemoteClients | undefined
  /** Where new revisions wait until a run is over; absent: each run shows them. */
  readonly revisions?: RevisionQueue | undefined
}

/** What a process keeps of one cluster between two runs. Without it everything is done again, and nothing goes wrong. */
export class ClusterMemory {
  readonly retries: NodeRetries
  readonly health: HealthWatch
  readonly turns: NodeTurns
  /** How many nodes are applied at once; absent: as many as usual. */
  readonly lanes: number | undefined
  /** What was told last about the Kustomizations of the cluster, and where it is told besides. */
  readonly board: BoardMemory
  readonly remotes: RemoteClients | undefined
  /** As the last run left them, by node. */
  inventories = new Map<string, Inventory>()
  /** Of what is approved now, also for turns that a run left behind. */
  readonly moves = new Moves(() => this.inventories)
  /** What others changed, and was put back. */
  readonly drift: DriftLog
  /** What became so far of the nodes of the present or last run. */
  progress: () => readonly AppliedNode[] = () => []
  readonly #suspects = new Set<string>()
  readonly #lookedAt = new Map<string, number>()
  readonly #now: () => number

  constructor({ lanes, now = Date.now, patienceMs, silenceMs, events, remotes, revisions }: ClusterMemoryOptions = {}) {
    this.lanes = lanes
    this.remotes = remotes
    this.board = { correlator: new EventCorrelator(), events, revisions }
    this.#now = now
    this.drift = new DriftLog(now)
    this.retries = new NodeRetries(now)
    this.health = new HealthWatch(patienceMs)
    this.turns = new NodeTurns(silenceMs)
    this.onTurnEnd(() => {})
  }

  /** What is on the cluster may be something else than what was applied: look at the node in the next run. */
  suspect(key: string): void {
    this.#suspects.add(key)
  }

  isSuspect(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** Called when the turn of a node is over that a run left behind, and whether the node may be looked at again at once. */
  onTurnEnd(ended: (mayBeTried: boolean) => void): void {
    this.turns.onEnd((key, ok) => {
      // no run has heard of what it did, and no watch
      this.suspect(key)
      ended(ok && !this.retries.has(key))
    })
  }

  /** The node is looked at now: whoever suspects it from now on means something that this look may not see. */
  clear(key: string): void {
    this.#suspects.delete(key)
  }

  /** The node was looked at: each of its objects is as it was approved. */
  looked(key: string): void {
    this.#lookedAt.set(key, this.#now())
  }

  /** How long ago this process looked at the node last. */
  ageMs(key: string): number {
    return this.#now() - (this.#lookedAt.get(key) ?? Number.NEGATIVE_INFINITY)
  }

  /** Forgets the nodes that are not among these. */
  keep(keys: ReadonlySet<string>): void {
    this.retries.keep(keys)
    this.health.keep(keys)
    this.board.revisions?.keep(keys)
    for (const known of [this.#suspects, this.#lookedAt])
      for (const key of known.keys()) if (!keys.has(key)) known.delete(key)
  }

  async close(): Promise<void> {
    this.health.close()
    await this.turns.close()
    await this.board.revisions?.close()
    this.remotes?.close()
  }
}
