import type { ClusterClient } from '../../src/cluster/client.ts'
import type { Inventory } from '../../src/cluster/inventory.ts'
import type { RemoteClients } from '../../src/cluster/remote/remote-clients.ts'
import { EventCorrelator } from '../../src/cluster/status/events.ts'
import { display } from '../../src/kube/object.ts'
import type { AppliedNode, AppliedObject, DriftNote } from '../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import type { NodeResult } from './apply-node.ts'
import { HealthWatch, type NodeHealth } from './health-watch.ts'
import { Moves } from './moves.ts'
import { NodeTurns } from './node-turns.ts'
import type { BoardMemory, RevisionQueue, StatusBoard } from './status-board.ts'

interface ClusterMemoryOptions {
  readonly lanes?: number
  readonly now?: () => number
  /** How long a run waits for the health of a node. */
  readonly patienceMs?: number
  /** How long a node may wait for an answer before a run continues without it. */
  readonly silenceMs?: number
  /** Address of the cluster's notification-controller. */
  readonly events?: string | undefined
  /** Where kubeConfigs of the cluster may lead; absent: nowhere. */
  readonly remotes?: RemoteClients | undefined
  /** Where new revisions wait until a run is over; absent: each run shows them. */
  readonly revisions?: RevisionQueue | undefined
}

/** What a process keeps of one cluster between two runs. It only saves work. */
export class ClusterMemory {
  readonly retries: NodeRetries
  readonly health: HealthWatch
  readonly turns: NodeTurns
  /** How many nodes are applied at once; absent: the default. */
  readonly lanes: number | undefined
  /** The last reported state of the cluster's Kustomizations, and where it is sent besides. */
  readonly board: BoardMemory
  readonly remotes: RemoteClients | undefined
  /** As the last run left them, by node. */
  inventories = new Map<string, Inventory>()
  /** The moves in what is approved now, also for turns that a run left behind. */
  readonly moves = new Moves(() => this.inventories)
  /** Corrected drift. */
  readonly drift: DriftLog
  /** The results so far of the nodes of the present or last run. */
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

  /** The cluster may differ from what was applied: the next run checks the node. */
  suspect(key: string): void {
    this.#suspects.add(key)
  }

  isSuspect(key: string): boolean {
    return this.#suspects.has(key)
  }

  /** `ended` is called when a turn that a run left behind is over, with whether the node may be tried at once. */
  onTurnEnd(ended: (mayBeTried: boolean) => void): void {
    this.turns.onEnd((key, ok) => {
      // neither a run nor a watch has seen what it did
      this.suspect(key)
      ended(ok && !this.retries.has(key))
    })
  }

  /** The node is being checked: a later suspicion may be about something that this check does not see. */
  clear(key: string): void {
    this.#suspects.delete(key)
  }

  /** The node was checked: each of its objects is as approved. */
  looked(key: string): void {
    this.#lookedAt.set(key, this.#now())
  }

  /** How long ago this process checked the node. */
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

/** One run over a cluster, and what is known of it so far. */
export interface Run {
  readonly client: ClusterClient
  readonly memory: ClusterMemory
  readonly signal: AbortSignal
  /** In the order in which their turns ended: parents before children. */
  readonly results: Map<string, NodeResult>
  readonly applied: Map<string, AppliedNode>
  readonly board: StatusBoard
  /** Milliseconds that each turn took. */
  readonly took: Map<string, number>
  readonly health: Map<string, NodeHealth>
}

const FIRST_MS = 5_000
const LONGEST_MS = 300_000

interface Failure {
  /** The revision set that was tried; another one is tried at once. */
  readonly revisionSet: string
  readonly attempts: number
  readonly at: number
  readonly applied: AppliedNode
}

/** The nodes that failed last: each is retried after its own pause, which doubles, and delays no other node. */
export class NodeRetries {
  readonly #failures = new Map<string, Failure>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** The last result of a node that waits for its retry; undefined: it may be tried now. */
  resting({ key, revisionSet }: Pick<ApprovedNode, 'key' | 'revisionSet'>): AppliedNode | undefined {
    const failure = this.#failures.get(key)
    return failure?.revisionSet === revisionSet && failure.at > this.#now() ? failure.applied : undefined
  }

  /** Schedules a retry after the node's retryInterval, else after a pause that grows while the same set fails. */
  failed(node: Pick<ApprovedNode, 'key' | 'revisionSet' | 'settings'>, applied: AppliedNode): void {
    const { key, revisionSet } = node
    const before = this.#failures.get(key)
    const attempts = before?.revisionSet === revisionSet ? before.attempts + 1 : 1
    const { retryIntervalMs, intervalMs } = node.settings
    const growing = Math.min(FIRST_MS * 2 ** Math.min(attempts - 1, 20), LONGEST_MS)
    // without a retryInterval, that of `interval` counts
    const pause = retryIntervalMs === intervalMs ? growing : Math.max(retryIntervalMs, FIRST_MS)
    this.#failures.set(key, { revisionSet, attempts, at: this.#now() + pause, applied })
  }

  /** Whether the last attempt failed. */
  has(key: string): boolean {
    return this.#failures.has(key)
  }

  /** It was applied, or must not be applied any more. */
  forget(key: string): void {
    this.#failures.delete(key)
  }

  /** Forgets nodes that are not among these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#failures.keys()) if (!keys.has(key)) this.#failures.delete(key)
  }

  /** When the node is tried again, in ms since 1970; undefined for one that did not fail. */
  nextAt(key: string): number | undefined {
    return this.#failures.get(key)?.at
  }

  /** How long until the next retry; undefined: no node failed. */
  nextInMs(): number | undefined {
    const times = [...this.#failures.values()].map(({ at }) => at)
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#now())
  }
}

/** How many are kept of a cluster: the oldest go first. */
const MAX_NOTES = 200

/** Corrected drift of a cluster; repeated changes of one object are counted. */
export class DriftLog {
  readonly #notes = new Map<string, DriftNote>()
  readonly #now: () => number
  #listener: () => void = () => {}

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Called after each note. */
  onNote(listener: () => void): void {
    this.#listener = listener
  }

  /** `corrected`: what an apply changed of a node that had been applied completely. */
  note(node: string, corrected: readonly AppliedObject[]): void {
    const last = new Date(this.#now()).toISOString()
    for (const { object, action, drift = { fields: [], managers: [] } } of corrected) {
      const change = action === 'created' ? ('deleted' as const) : ('changed' as const)
      const key = JSON.stringify([node, display(object), change, drift])
      const before = this.#notes.get(key)
      this.#notes.delete(key)
      const times = { count: (before?.count ?? 0) + 1, first: before?.first ?? last, last }
      this.#notes.set(key, { node, object, change, ...drift, ...times })
      const [oldest] = this.#notes.keys()
      if (this.#notes.size > MAX_NOTES && oldest !== undefined) this.#notes.delete(oldest)
    }
    if (corrected.length > 0) this.#listener()
  }

  /** The latest first. */
  get notes(): readonly DriftNote[] {
    return [...this.#notes.values()].reverse()
  }
}
