import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../base/errors.ts'
import { display, type ObjectId } from '../kube/object.ts'
import { compareIds, waves } from './apply-order.ts'
import { type ClusterClient, readLive } from './client.ts'
import { failureScope } from './cluster-error.ts'
import { type InventoryEntry, idOfEntry } from './inventory.ts'
import { stringAt } from './json.ts'
import { carriesLabelsOf, keepReason, type Owner } from './ownership.ts'
import { ownTargetReason } from './refused-targets.ts'
import { eachLimited } from './slots.ts'

/** As many as the client has connections. */
const AT_ONCE = 16

interface PruneRequest {
  readonly user: string
  readonly owner: Owner
  readonly entries: readonly InventoryEntry[]
  /** Why an object stays for now that has the labels of this owner; undefined: it is deleted. */
  readonly keep?: (entry: InventoryEntry) => string | undefined
  readonly signal?: AbortSignal
}

interface PrunedObject {
  readonly id: ObjectId
  readonly entry: InventoryEntry
  /**
   * `skipped`: left on the cluster and no longer ours to look after. `kept`: left for another owner that has not taken it over
   * yet. `failed`: try again.
   */
  readonly action: 'deleted' | 'skipped' | 'kept' | 'failed'
  readonly message?: string
}

export interface PruneResult {
  /** In the order of deleting. */
  readonly objects: readonly PrunedObject[]
  /** Entries that the inventory must keep. */
  readonly remaining: readonly InventoryEntry[]
}

/**
 * Deletes what the entries name, as the user and in reverse order of applying: kind by kind, objects of the same kind
 * (and kinds without an order) side by side. Only objects that carry both owner labels of this owner, and only as they
 * were read (uid and resourceVersion). Throws `cluster-unavailable` where the cluster does not answer: nothing is lost,
 * run it again with the same entries.
 */
export async function pruneObjects(client: ClusterClient, request: PruneRequest): Promise<PruneResult> {
  const items = request.entries.map(entry => ({ entry, id: idOfEntry(entry) }))
  const pruned = new Map<InventoryEntry, PrunedObject>()
  for (const wave of waves(items).reverse()) {
    await eachLimited(wave.items, AT_ONCE, async ({ id, entry }) => {
      pruned.set(entry, { id, entry, ...(await attempt(() => pruneOne(client, request, id, entry))) })
    })
  }
  const inOrder = items.toSorted((a, b) => compareIds(b.id, a.id))
  const objects = inOrder.map(({ entry }) => pruned.get(entry)!)
  const left = objects.filter(({ action }) => action === 'failed' || action === 'kept')
  return { objects, remaining: left.map(({ entry }) => entry) }
}

type Outcome = Pick<PrunedObject, 'action' | 'message'>

async function attempt(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BailiwickError) || failureScope(error) !== 'object') throw error
    return { action: 'failed', message: error.message }
  }
}

async function pruneOne(
  client: ClusterClient,
  { user, owner, keep, signal }: PruneRequest,
  id: ObjectId,
  entry: InventoryEntry,
): Promise<Outcome> {
  const own = await ownTargetReason(client, { user, id })
  // kept in the inventory, it would fail for ever
  if (own !== undefined) return { action: 'skipped', message: own }
  const found = await readLive(client, { user }, id, { signal })
  if (!found) return { action: 'deleted', message: `the cluster has no kind ${id.kind} any more` }
  const { path, live } = found
  if (live === undefined) return { action: 'deleted', message: 'it was already deleted' }
  if (!carriesLabelsOf(live, owner))
    return { action: 'skipped', message: `${display(id)} does not have the owner labels of Bailiwick` }
  const uid = stringAt(live, 'metadata', 'uid')
  if (entry.uid !== undefined && entry.uid !== uid) {
    return { action: 'skipped', message: `${display(id)} was deleted and created again by another client` }
  }
  const moves = keep?.(entry)
  if (moves !== undefined) return { action: 'kept', message: moves }
  const reason = keepReason(live)
  if (reason) return { action: 'skipped', message: reason }
  if (stringAt(live, 'metadata', 'deletionTimestamp'))
    return { action: 'deleted', message: 'its deletion is in progress' }
  const resourceVersion = stringAt(live, 'metadata', 'resourceVersion')
  await client.request({ user }, 'DELETE', path, {
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      preconditions: { uid, resourceVersion },
    },
    signal,
  })
  return { action: 'deleted' }
}

/** How long one run waits: what takes longer stays in the inventory, and the next run looks again. */
const PATIENCE_MS = 10_000
const POLL_MS = 500

/** Waits until what was deleted is gone. What is still there stays among what remains, as a failure of its object. */
export async function awaitTermination(
  client: ClusterClient,
  user: string,
  result: PruneResult,
  signal: AbortSignal,
  patienceMs: number = PATIENCE_MS,
): Promise<PruneResult> {
  const deadline = Date.now() + patienceMs
  const terminating = new Set<InventoryEntry>()
  for (const { entry, action } of result.objects) {
    if (action !== 'deleted') continue
    while (await isThere(client, user, entry, signal)) {
      if (Date.now() >= deadline) {
        terminating.add(entry)
        break
      }
      await sleep(POLL_MS, undefined, { signal })
    }
  }
  if (terminating.size === 0) return result
  const objects = result.objects.map(object =>
    terminating.has(object.entry)
      ? {
          ...object,
          action: 'failed' as const,
          message: 'it is being deleted, and deletionPolicy WaitForTermination waits',
        }
      : object,
  )
  return { objects, remaining: objects.filter(({ action }) => action === 'failed').map(({ entry }) => entry) }
}

async function isThere(
  client: ClusterClient,
  user: string,
  entry: InventoryEntry,
  signal: AbortSignal,
): Promise<boolean> {
  const id = idOfEntry(entry)
  return (await readLive(client, { user }, id, { signal }))?.live !== undefined
}
