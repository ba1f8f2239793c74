import { accountIsGone } from '../../src/cluster/account-is-gone.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { Inventory } from '../../src/cluster/inventory.ts'
import { type InventoryEntry, idOfEntry } from '../../src/cluster/inventory-entry.ts'
import { mapAt, stringAt } from '../../src/cluster/json-at.ts'
import { ownerOf } from '../../src/cluster/ownership.ts'
import { pruneObjects } from '../../src/cluster/prune-objects.ts'
import { readKustomization, writeFinalizer } from '../../src/cluster/status/kustomizations.ts'
import {
  endsWithObjects,
  hasFinalizer,
  isTerminating,
  keyOf,
  ownAccount,
  readyReason,
  recordedEntries,
} from '../../src/cluster/status/live-kustomization.ts'
import { type ObjectStep, revisionMetadata, type StatusEvent, subject } from '../../src/cluster/status/status-events.ts'
import type { Json } from '../../src/kube/node.ts'
import { keptFor, type Moves } from './moves.ts'
import type { StatusBoard } from './status-board.ts'

/** What a run knows when it has applied and pruned everything. */
interface Ended {
  /** Keys of the nodes that git has. */
  readonly present: ReadonlySet<string>
  /** Nodes that are gone and of which something is left, by key. */
  readonly unfinished: ReadonlyMap<string, Inventory>
  /** Keys of nodes whose inventories we had: what they recorded is pruned, or is decided about by their parents. */
  readonly known: ReadonlySet<string>
  /** What was pruned of nodes that are gone, by key. */
  readonly pruned: ReadonlyMap<string, readonly ObjectStep[]>
  /** What another Kustomization takes over is not deleted. */
  readonly moves: Moves
  /** Kustomizations that this run deleted. */
  readonly deleted: readonly { readonly namespace: string; readonly name: string }[]
}

/**
 * Lets go of deleted Kustomizations, as kustomize-controller does when it has pruned their objects: nobody else removes
 * their finalizer, and their Namespace waits for them. What git still has keeps its objects: its parent makes it again.
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
  // it never was ours: kustomize-controller applied it, and it left git before we came
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
