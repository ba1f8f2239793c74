import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { ClusterError } from '../../src/cluster/cluster-error.ts'
import { stringAt } from '../../src/cluster/json-at.ts'
import type { EventCorrelator } from '../../src/cluster/status/event-correlator.ts'
import {
  changesOnlyRevision,
  type ReconcileAttempt,
  type ReconcileOutcome,
} from '../../src/cluster/status/kustomization-status.ts'
import {
  readKustomization,
  readKustomizations,
  writeFinalizer,
  writeStatus,
} from '../../src/cluster/status/kustomizations.ts'
import { hasFinalizer, isTerminating, isTrue, keyOf } from '../../src/cluster/status/live-kustomization.ts'
import { notify } from '../../src/cluster/status/notify.ts'
import { recordEvent } from '../../src/cluster/status/record-event.ts'
import { type ObjectStep, type StatusEvent, statusEvents } from '../../src/cluster/status/status-events.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Json } from '../../src/kube/node.ts'
import { KeyedLanes } from './keyed-lanes.ts'
import type { RevisionQueue } from './revision-queue.ts'

/** A node as far as its status shows it. */
export type ShownNode = Pick<ApprovedNode, 'key' | 'namespace' | 'name' | 'suspend' | 'digest' | 'settings'> & {
  readonly source: Pick<ApprovedNode['source'], 'commit' | 'revision' | 'originRevision'>
}

/** What came of a node in this run, and what was done to its objects on the way. */
interface Shown {
  readonly outcome: ReconcileOutcome
  readonly changes?: readonly ObjectStep[]
  readonly durationMs?: number
}

/** Shows on the live Kustomizations what a run does with them. */
export interface StatusBoard {
  /** Why nothing can be shown on this cluster at all. */
  readonly unusable?: string
  /** As it was read when the run began, with what was written since; undefined where the cluster has none. */
  live(node: Pick<ShownNode, 'namespace' | 'name'>): Json | undefined
  /** Those that somebody deletes. */
  terminating(): readonly Json[]
  /** Sends an event about a Kustomization at once. Never rejects: nothing waits for it. */
  tell(live: Json, event: StatusEvent): Promise<void>
  /** Enqueues; writes come later, one at a time for each node. A new revision alone comes after the run, see RevisionQueue. */
  show(node: ShownNode, shown: Shown): void
  /** Resolves when what was shown of the node so far is written, so that others may read it. Never rejects. */
  shown(key: string): Promise<void>
  /** Resolves when everything is written but new revisions: what could not be, by the key of the node. Never rejects. */
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
 * Reads the live Kustomizations of a cluster. Where the worker may not, nothing can be shown, and the board says so. Throws
 * where they cannot be read now: who suspended what by hand is not known, and it must not be applied.
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

/** The same for Kustomizations that were read already. `unusable`: why nothing can be shown. */
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
    // nobody reads the problems of a run that is over
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
    // an address that does not answer keeps no run waiting more than once
    if (memory.events === undefined || isDeaf) return
    await notify(memory.events, about, event).catch((error: unknown) => {
      isDeaf = true
      failed(error)
    })
  }
}

/** Writes the status of a node and owns its deletion, then sends its events. */
function statusWriter(client: ClusterClient, live: Map<string, Json>, send: Send) {
  return async (node: ShownNode, shown: Shown): Promise<void> => {
    // its parent may have made it in this very run
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

/** Nothing is new but the revision, and nothing else would be written with it. */
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
