import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../../src/base/errors.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { ClusterError } from '../../src/cluster/cluster-error.ts'
import { stringAt } from '../../src/cluster/json.ts'
import {
  type EventCorrelator,
  notify,
  type ObjectStep,
  recordEvent,
  type StatusEvent,
  statusEvents,
} from '../../src/cluster/status/events.ts'
import {
  changesOnlyRevision,
  hasFinalizer,
  isTerminating,
  isTrue,
  keyOf,
  type ReconcileAttempt,
  type ReconcileOutcome,
} from '../../src/cluster/status/kustomization-status.ts'
import {
  readKustomization,
  readKustomizations,
  writeFinalizer,
  writeStatus,
} from '../../src/cluster/status/kustomizations.ts'
import type { Json } from '../../src/kube/node.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'

/** The part of a node that its status shows. */
export type ShownNode = Pick<ApprovedNode, 'key' | 'namespace' | 'name' | 'suspend' | 'digest' | 'settings'> & {
  readonly source: Pick<ApprovedNode['source'], 'commit' | 'revision' | 'originRevision'>
}

/** The outcome of a node in this run, and the changes of its objects. */
interface Shown {
  readonly outcome: ReconcileOutcome
  readonly changes?: readonly ObjectStep[]
  readonly durationMs?: number
}

/** Shows on the live Kustomizations what a run does with them. */
export interface StatusBoard {
  /** Why nothing can be shown on this cluster at all. */
  readonly unusable?: string
  /** As read when the run began, with what was written since; undefined if the cluster has none. */
  live(node: Pick<ShownNode, 'namespace' | 'name'>): Json | undefined
  /** The Kustomizations that are being deleted. */
  terminating(): readonly Json[]
  /** Sends an event about a Kustomization at once. Never rejects: nothing waits for it. */
  tell(live: Json, event: StatusEvent): Promise<void>
  /** Enqueues; writes come later, one at a time per node. A new revision alone waits for the run, see RevisionQueue. */
  show(node: ShownNode, shown: Shown): void
  /** Resolves when what was shown of the node so far is written, so that others can read it. Never rejects. */
  shown(key: string): Promise<void>
  /** Resolves when everything but new revisions is written, with the errors by the key of the node. Never rejects. */
  written(): Promise<ReadonlyMap<string, string>>
}

/** What is kept of a cluster between two runs. */
export interface BoardMemory {
  readonly correlator: EventCorrelator<string>
  /** Address of notification-controller; absent: no notifications. */
  readonly events?: string | undefined
  /** Statuses that wait until the run is over; absent: none does. */
  readonly revisions?: RevisionQueue | undefined
}

const AT_ONCE = 8

/**
 * Reads the live Kustomizations of a cluster. If the worker may not, nothing can be shown, and `unusable` says why.
 * Throws if they cannot be read now, because a node that was suspended by hand must not be applied.
 */
export async function openStatusBoard(client: ClusterClient, memory: BoardMemory): Promise<StatusBoard> {
  const known = await readKustomizations(client).catch((error: unknown) => {
    if (!(error instanceof ClusterError) || error.status !== 403) throw error
    return `${error.message}. What is suspended by hand is not known`
  })
  const missing = known === undefined ? 'the cluster has no kind Kustomization' : undefined
  const unusable = typeof known === 'string' ? known : missing
  return statusBoard(client, memory, known instanceof Map ? known.values() : [], unusable)
}

/** The board of Kustomizations that were read already. `unusable`: why nothing can be shown. */
export function statusBoard(
  client: ClusterClient,
  memory: BoardMemory,
  known: Iterable<Json>,
  unusable?: string,
): StatusBoard {
  const live = new Map([...known].map(one => [keyOf(one), one]))
  const problems = new Map<string, string>()
  const lanes = new KeyedLanes(AT_ONCE)
  const send = eventSender(client, memory, problems)
  const write = statusWriter(client, live, send)
  const writeLater = async (node: ShownNode, shown: Shown) => {
    problems.delete(node.key)
    await write(node, shown)
    const reason = problems.get(node.key)
    // the problems of a finished run are not read
    if (reason !== undefined) throw new BailiwickError('cluster-unavailable', reason)
  }
  return {
    ...(unusable === undefined ? {} : { unusable }),
    live: node => live.get(at(node)),
    terminating: () => [...live.values()].filter(isTerminating),
    tell: (about, event) => send(`${client.name}/${keyOf(about)}`, about, event),
    show(node, shown) {
      if (unusable !== undefined) return
      const { revisions } = memory
      const { revision } = attemptOf(node, shown)
      if (revisions !== undefined && mayWait(live.get(at(node)), node, shown)) {
        revisions.put(node.key, { revision, write: () => writeLater(node, shown) })
        return
      }
      const dropped = revisions?.drop(node.key)
      lanes.add(node.key, async () => {
        await dropped
        await write(node, shown).catch((error: unknown) => {
          problems.set(node.key, `its status is not shown: ${reasonOf(error)}`)
        })
      })
    },
    async shown(key) {
      await lanes.idleOf(key)
      await memory.revisions?.flush(key)
    },
    async written() {
      await lanes.idle()
      for (const [key, reason] of memory.revisions?.takeProblems() ?? [])
        problems.set(key, `its new revision was not shown: ${reason}`)
      memory.revisions?.start()
      return problems
    },
  }
}

type Send = (key: string, about: Json, event: StatusEvent) => Promise<void>

const at = ({ namespace, name }: Pick<ShownNode, 'namespace' | 'name'>) => `${namespace}/${name}`

/** Sends events; why one is not sent is noted under the key of its node. */
function eventSender(client: ClusterClient, memory: BoardMemory, problems: Map<string, string>): Send {
  let isDeaf = false
  return async (key, about, event) => {
    const failed = (error: unknown) => problems.set(key, `its events are not sent: ${reasonOf(error)}`)
    await recordEvent(client, memory.correlator, about, event).catch(failed)
    // an address that does not answer delays a run only once
    if (memory.events === undefined || isDeaf) return
    await notify(memory.events, about, event).catch((error: unknown) => {
      isDeaf = true
      failed(error)
    })
  }
}

/** Writes the status and the finalizer of a node, then sends its events. */
function statusWriter(client: ClusterClient, live: Map<string, Json>, send: Send) {
  return async (node: ShownNode, shown: Shown): Promise<void> => {
    // its parent may have created it in this very run
    const before = live.get(at(node)) ?? (await readKustomization(client, node.namespace, node.name))
    if (before === undefined)
      throw new BailiwickError('cluster-invalid', `the cluster has no Kustomization ${at(node)}`)
    const attempt = attemptOf(node, shown)
    const after = await writeStatus(client, before, attempt)
    if (after === undefined)
      throw new BailiwickError('cluster-invalid', `Kustomization ${at(node)} was deleted meanwhile`)
    live.set(at(node), after)
    const owned = (await writeFinalizer(client, after, true)) ?? after
    live.set(at(node), owned)
    if (after === before && (shown.changes ?? []).length === 0) return
    for (const event of eventsOf(before, node, attempt, shown)) await send(node.key, owned, event)
  }
}

/** Whether only the revision is new, and nothing else would be written with it. */
function mayWait(live: Json | undefined, node: ShownNode, shown: Shown): boolean {
  if (live === undefined || (shown.changes ?? []).length > 0 || !hasFinalizer(live)) return false
  return changesOnlyRevision(live, attemptOf(node, shown))
}

function eventsOf(
  before: Json,
  { settings }: ShownNode,
  attempt: ReconcileAttempt,
  { changes = [] }: Shown,
): StatusEvent[] {
  return statusEvents({
    attempt,
    changes,
    intervalMs: settings.intervalMs,
    wasHealthy: isTrue(before, 'Healthy'),
    isNewRevision: stringAt(before, 'status', 'lastAppliedRevision') !== attempt.revision,
  })
}

function attemptOf({ source, digest, settings }: ShownNode, { outcome, durationMs = 0 }: Shown): ReconcileAttempt {
  return {
    revision: source.revision ?? `sha1:${source.commit}`,
    ...(source.originRevision === undefined ? {} : { originRevision: source.originRevision }),
    digest: `sha256:${digest}`,
    timeoutMs: settings.timeoutMs,
    durationMs,
    outcome,
  }
}

function reasonOf(error: unknown): string {
  return error instanceof BailiwickError ? error.message : String(error)
}

/** A status and its event: together as many requests as kustomize-controller's default (`--kube-api-qps`, 50). */
const PER_SECOND = 25
const REVISIONS_AT_ONCE = 4

/** The outcome of a status with only a new revision. `coalesced`: a newer one was written in its place. */
export type RevisionOutcome = 'written' | 'coalesced' | 'failed'

interface RevisionQueueOptions {
  readonly perSecond?: number
  readonly onOutcome?: ((outcome: RevisionOutcome) => void) | undefined
  readonly pause?: (ms: number) => Promise<unknown>
}

interface Waiting {
  readonly revision: string
  /** Rejects if it is not written. */
  readonly write: () => Promise<void>
}

/**
 * Statuses with only a new revision, of one cluster. They are written after the run that enqueues them, a limited
 * number each second, and only the newest of each node. If the process ends, the next run enqueues them again, because
 * the live status still has the former revision.
 */
export class RevisionQueue {
  readonly #pauseMs: number
  readonly #onOutcome: (outcome: RevisionOutcome) => void
  readonly #pause: (ms: number) => Promise<unknown>
  /** Of the present run. */
  readonly #next = new Map<string, Waiting>()
  readonly #waiting = new Map<string, Waiting>()
  readonly #writing = new Map<string, { readonly revision: string; readonly done: Promise<void> }>()
  readonly #problems = new Map<string, string>()
  #draining: Promise<void> | undefined
  #isClosed = false

  constructor({ perSecond = PER_SECOND, onOutcome = () => {}, pause = sleep }: RevisionQueueOptions = {}) {
    this.#pauseMs = 1000 / perSecond
    this.#onOutcome = onOutcome
    this.#pause = pause
  }

  /** How many statuses still show a former revision. */
  get size(): number {
    return new Set([...this.#next.keys(), ...this.#waiting.keys(), ...this.#writing.keys()]).size
  }

  /** Replaces the waiting status of the node. */
  put(key: string, waiting: Waiting): void {
    if (this.#writing.get(key)?.revision === waiting.revision) return
    const before = this.#waiting.get(key) ?? this.#next.get(key)
    if (before !== undefined && before.revision !== waiting.revision) this.#onOutcome('coalesced')
    // keeps its place in the queue, or a node that changes often would never be first
    const queue = this.#waiting.has(key) ? this.#waiting : this.#next
    queue.set(key, waiting)
  }

  /** The run is over: what it enqueued is written now. */
  start(): void {
    for (const [key, waiting] of this.#next) this.#waiting.set(key, waiting)
    this.#next.clear()
    this.#resume()
  }

  /** Drops the waiting status of the node, which another write replaces; resolves when nothing is being written. */
  async drop(key: string): Promise<void> {
    this.#next.delete(key)
    this.#waiting.delete(key)
    await this.#writing.get(key)?.done
  }

  /** Writes the waiting status of the node at once, for readers of it. */
  async flush(key: string): Promise<void> {
    for (let busy = this.#writing.get(key); busy !== undefined; busy = this.#writing.get(key)) await busy.done
    const waiting = this.#next.get(key) ?? this.#waiting.get(key)
    if (waiting !== undefined) await this.#write(key, waiting)
  }

  /** Forgets the nodes that are not among these. */
  keep(keys: ReadonlySet<string>): void {
    for (const queue of [this.#next, this.#waiting, this.#problems])
      for (const key of queue.keys()) if (!keys.has(key)) queue.delete(key)
  }

  /** Errors of statuses since the last call, by node. */
  takeProblems(): ReadonlyMap<string, string> {
    const problems = new Map(this.#problems)
    this.#problems.clear()
    return problems
  }

  /** Resolves when nothing waits that a run enqueued. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  /** Stops writing. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#next.clear()
    this.#waiting.clear()
    await Promise.all([...this.#writing.values()].map(({ done }) => done))
  }

  #resume(): void {
    if (this.#waiting.size > 0 && !this.#isClosed) this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      const [first] = [...this.#waiting].filter(([key]) => !this.#writing.has(key))
      if (first !== undefined && this.#writing.size < REVISIONS_AT_ONCE) void this.#write(...first)
      await this.#pause(this.#pauseMs)
    }
    await Promise.all([...this.#writing.values()].map(({ done }) => done))
    this.#draining = undefined
    this.#resume()
  }

  async #write(key: string, waiting: Waiting): Promise<void> {
    this.#next.delete(key)
    this.#waiting.delete(key)
    const done = this.#tried(key, waiting).finally(() => this.#writing.delete(key))
    this.#writing.set(key, { revision: waiting.revision, done })
    await done
  }

  async #tried(key: string, { write }: Waiting): Promise<void> {
    try {
      await write()
      this.#onOutcome('written')
    } catch (error) {
      this.#problems.set(key, error instanceof Error ? error.message : String(error))
      this.#onOutcome('failed')
    }
  }
}

/** Runs work in order for each key, and for a limited number of keys at once. */
class KeyedLanes {
  readonly #limit: number
  readonly #waiting = new Map<string, (() => Promise<void>)[]>()
  readonly #running = new Set<Promise<void>>()

  constructor(limit: number) {
    this.#limit = limit
  }

  add(key: string, work: () => Promise<void>): void {
    const queue = this.#waiting.get(key)
    if (queue) queue.push(work)
    else this.#waiting.set(key, [work])
    this.#start()
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Resolves when nothing of this key is left to do. */
  async idleOf(key: string): Promise<void> {
    while (this.#waiting.has(key) || this.#busy.has(key)) await (this.#busy.get(key) ?? Promise.race(this.#running))
  }

  readonly #busy = new Map<string, Promise<void>>()

  #start(): void {
    for (const [key, queue] of this.#waiting) {
      if (this.#running.size >= this.#limit) return
      if (this.#busy.has(key)) continue
      this.#waiting.delete(key)
      const run = this.#runAll(queue).finally(() => {
        this.#running.delete(run)
        this.#busy.delete(key)
        this.#start()
      })
      this.#running.add(run)
      this.#busy.set(key, run)
    }
  }

  async #runAll(queue: readonly (() => Promise<void>)[]): Promise<void> {
    for (const work of queue) await work()
  }
}
