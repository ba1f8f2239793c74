import { redact } from '../../src/base/visible.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { accountIsGone } from '../../src/cluster/cluster-error.ts'
import { type Inventory, type InventoryEntry, idOfEntry } from '../../src/cluster/inventory.ts'
import { mapAt, stringAt } from '../../src/cluster/json.ts'
import { ownerOf } from '../../src/cluster/ownership.ts'
import { pruneObjects } from '../../src/cluster/prune-objects.ts'
import { type ObjectStep, revisionMetadata, type StatusEvent, subject } from '../../src/cluster/status/events.ts'
import {
  endsWithObjects,
  hasFinalizer,
  isTerminating,
  keyOf,
  ownAccount,
  type ReconcileOutcome,
  readyReason,
  recordedEntries,
} from '../../src/cluster/status/kustomization-status.ts'
import { readKustomization, writeFinalizer } from '../../src/cluster/status/kustomizations.ts'
import type { Json } from '../../src/kube/node.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'
import type { NodeResult } from './apply-node.ts'
import type { NodeHealth } from './health-watch.ts'
import { keptFor, type Moves } from './moves.ts'
import type { ShownNode, StatusBoard } from './status-board.ts'

type Shown = Pick<NodeResult, 'objects' | 'complete'> & {
  readonly inventory: Pick<NodeResult['inventory'], 'entries'>
  readonly pruned?: boolean
  readonly health?: NodeHealth | undefined
}

/**
 * Shows that a node was applied, or what of it was refused. `inventory`: what it has on the cluster now; `pruned`: what
 * it no longer has is gone, too.
 */
export function showResult(
  board: StatusBoard,
  node: ShownNode,
  { objects, complete, inventory, pruned = true, health = { state: 'none' } }: Shown,
  durationMs: number,
): void {
  const { entries } = inventory
  const changes = changesOf(objects)
  if (complete && pruned) {
    board.show(node, { outcome: healthOutcome(health, entries), changes, durationMs })
    return
  }
  const refused = objects.filter(({ action }) => action === 'refused')
  const done = complete ? [] : changes.map(({ object, action }) => `${subject(object)} ${action}`)
  const message = complete ? pruneFailure(refused) : [...refused.map(applyFailure), ...done].join('\n')
  const reason = complete ? 'PruneFailed' : 'ReconciliationFailed'
  board.show(node, { outcome: { state: 'failed', reason, message, entries }, changes, durationMs })
}

/** The API server's refusal names its object already, as with Flux. */
function applyFailure({ object, message = 'refused' }: AppliedObject): string {
  const text = redact(message, object)
  return text.startsWith(`${subject(object)} `) ? text : `${subject(object)}: ${text}`
}

/** In the words of kustomize-controller (fluxcd/pkg, ssa/manager_delete.go). */
function pruneFailure(refused: readonly AppliedObject[]): string {
  const each = refused.map(({ object, message = 'refused' }) => {
    return `${subject(object)} delete failed: ${redact(message, object)};`
  })
  return `delete failed, errors: ${each.join('')}`
}

/** The outcome of a completely applied node, by its health. */
function healthOutcome(health: NodeHealth, entries: Shown['inventory']['entries']): ReconcileOutcome {
  switch (health.state) {
    case 'none':
      return { state: 'applied', entries }
    case 'waiting':
      return { state: 'checking', entries }
    case 'healthy':
      return { state: 'applied', entries, healthMs: health.tookMs }
    default:
      return {
        ...{ state: 'failed', reason: 'HealthCheckFailed', message: redact(health.reason) },
        ...{ entries, healthMs: health.tookMs },
      }
  }
}

/** Shows that a node could not be applied, or that what it no longer has could not be deleted. */
export function showFailure(
  board: StatusBoard,
  node: ShownNode,
  { reason, message }: { readonly reason: 'ReconciliationFailed' | 'PruneFailed'; readonly message: string },
): void {
  board.show(node, { outcome: { state: 'failed', reason, message: redact(message) } })
}

/** Flux leaves a suspended one alone, and observes its generation where it was ready. */
export function showSuspended(board: StatusBoard, node: ShownNode): void {
  board.show(node, { outcome: { state: 'suspended' } })
}

/** Shows why a node is not applied. `dependency`: the key of the node that it waits for. */
export function showHeld(board: StatusBoard, node: ShownNode, reason: string, dependency?: string): void {
  const shown =
    dependency === undefined
      ? { reason: 'NotApproved', message: reason }
      : {
          reason: 'DependencyNotReady',
          message: `dependency '${dependency.split('/').slice(1).join('/')}' is not ready`,
        }
  board.show(node, { outcome: { state: 'waiting', ...shown } })
}

/** The changes of objects, as events list them. */
export function changesOf(objects: readonly AppliedObject[]): ObjectStep[] {
  return objects.flatMap(({ object, action }): ObjectStep[] => {
    if (action === 'created' || action === 'configured') return [{ object, action }]
    return action === 'pruned' ? [{ object, action: 'deleted' }] : []
  })
}

/** What a run knows when it has applied and pruned everything. */
interface Ended {
  /** Keys of the nodes that git has. */
  readonly present: ReadonlySet<string>
  /** Removed nodes with objects left, by key. */
  readonly unfinished: ReadonlyMap<string, Inventory>
  /** Keys of nodes whose inventories we had: what they recorded is pruned, or their parents decide about it. */
  readonly known: ReadonlySet<string>
  /** What was pruned of removed nodes, by key. */
  readonly pruned: ReadonlyMap<string, readonly ObjectStep[]>
  /** What another Kustomization takes over is not deleted. */
  readonly moves: Moves
  /** Kustomizations that this run deleted. */
  readonly deleted: readonly { readonly namespace: string; readonly name: string }[]
}

/**
 * Releases deleted Kustomizations, as kustomize-controller does after pruning their objects: no other client removes
 * their finalizer, and their Namespace waits for them. One still in git keeps its objects: its parent recreates it.
 */
export async function releaseKustomizations(
  client: ClusterClient,
  board: StatusBoard,
  ended: Ended,
  signal: AbortSignal,
): Promise<void> {
  const waiting = board.terminating().map(live => mapAt(live, 'metadata') as { namespace: string; name: string })
  const candidates = new Map([...waiting, ...ended.deleted].map(at => [`${at.namespace}/${at.name}`, at]))
  const deleted = new Set(ended.deleted.map(({ namespace, name }) => `${namespace}/${name}`))
  for (const [at, { namespace, name }] of candidates) {
    signal.throwIfAborted()
    const live = await readKustomization(client, namespace, name)
    if (live === undefined || !isTerminating(live) || !hasFinalizer(live)) continue
    const isOurs = deleted.has(at) || ended.present.has(`${client.name}/${ownerOf(live)}`)
    if (await isOver(client, board, live, ended, isOurs, signal)) await writeFinalizer(client, live, false)
  }
}

async function isOver(
  client: ClusterClient,
  board: StatusBoard,
  live: Json,
  { present, unfinished, known, pruned, moves }: Ended,
  isOurs: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const key = `${client.name}/${keyOf(live)}`
  const rest = unfinished.get(key)
  if (rest) {
    if (!(await accountIsGone(client, rest.user))) return false
    await board.tell(live, orphans(live, rest.entries))
    return true
  }
  await reportGone(board, live, pruned.get(key) ?? [])
  const recorded = recordedEntries(live)
  if (present.has(key) || known.has(key) || recorded.length === 0 || !endsWithObjects(live)) return true
  // never ours: kustomize-controller applied it, and it left git before our first run
  const user = ownAccount(live)
  if (!isOurs || user === undefined) {
    await board.tell(live, orphans(live, recorded))
    return true
  }
  const owner = { namespace: stringAt(live, 'metadata', 'namespace'), name: stringAt(live, 'metadata', 'name') }
  const keep = keptFor(moves, { node: key, user })
  const { objects, remaining } = await pruneObjects(client, { user, owner, entries: recorded, keep, signal })
  const gone = objects.filter(({ action }) => action === 'deleted')
  await reportGone(
    board,
    live,
    gone.map(({ id }) => ({ object: id, action: 'deleted' })),
  )
  if (remaining.length === 0) return true
  if (!(await accountIsGone(client, user))) return false
  await board.tell(live, orphans(live, remaining))
  return true
}

async function reportGone(board: StatusBoard, live: Json, gone: readonly ObjectStep[]): Promise<void> {
  if (gone.length === 0) return
  await board.tell(live, about(live, 'info', gone.map(({ object }) => `${subject(object)} deleted`).join('\n')))
}

/** In the words of kustomize-controller, where the account is gone. */
function orphans(live: Json, entries: readonly InventoryEntry[]): StatusEvent {
  return about(
    live,
    'error',
    `unable to prune objects: \n${entries.map(entry => subject(idOfEntry(entry))).join('\n')}`,
  )
}

function about(live: Json, severity: StatusEvent['severity'], message: string): StatusEvent {
  const [revision, origin] = ['lastAppliedRevision', 'lastAppliedOriginRevision'].map(field =>
    stringAt(live, 'status', field),
  )
  const metadata = revisionMetadata(revision ?? '', origin)
  return { severity, reason: readyReason(live) || severity, message, metadata }
}
