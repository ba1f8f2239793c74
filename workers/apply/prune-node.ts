import { awaitTermination } from '../../src/cluster/await-termination.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { claim, type Inventory, removeInventory } from '../../src/cluster/inventory.ts'
import { type InventoryEntry, unionEntries } from '../../src/cluster/inventory-entry.ts'
import type { Owner } from '../../src/cluster/ownership.ts'
import { type PruneResult, pruneObjects } from '../../src/cluster/prune-objects.ts'
import { readLive } from '../../src/cluster/read-live.ts'
import { isSuspended } from '../../src/cluster/status/live-kustomization.ts'
import { apiVersionOf, KUSTOMIZATION } from '../../src/flux/kinds.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'
import type { ApplyTarget } from './apply-target.ts'

const KUSTOMIZATION_ID = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization' }

interface PruneOutcome {
  readonly objects: readonly AppliedObject[]
  /** False: something is left to prune, and whoever gives the account its rights must stay. */
  readonly complete: boolean
}

/** With the inventory as it was stored last. */
interface StaleOutcome extends PruneOutcome {
  readonly inventory: Inventory
}

/** Deletes what a node that was applied completely has no more, as its account; what could not be deleted stays in the inventory. */
export async function pruneStale(
  client: ClusterClient,
  inventory: Inventory,
  stale: readonly InventoryEntry[],
  signal: AbortSignal,
  target: () => Promise<ApplyTarget> = async () => ({ client }),
): Promise<StaleOutcome> {
  if (stale.length === 0) return { objects: [], complete: true, inventory }
  const gone = new Set(stale.map(entry => entry.id))
  const kept = inventory.entries.filter(entry => !gone.has(entry.id))
  if (!inventory.prune) {
    return { objects: [], complete: true, inventory: await claim(client, inventory, { entries: kept, settled: true }) }
  }
  const result = await prune((await target()).client, inventory, stale, signal)
  const settled = result.remaining.length === 0
  const stored = await claim(client, inventory, { entries: unionEntries(kept, result.remaining), settled })
  return { ...described(result), inventory: stored }
}

/**
 * Ends a node that its parent renders no more: deletes what it has where its `deletionPolicy` and `prune` ask for that, and
 * forgets it. As with Flux, one that is suspended leaves everything. With WaitForTermination it ends when all is gone.
 */
export async function pruneNode(
  client: ClusterClient,
  inventory: Inventory,
  signal: AbortSignal,
  target: () => Promise<ApplyTarget> = async () => ({ client }),
): Promise<PruneOutcome> {
  if (!deletesAll(inventory) || (await isSuspendedLive(client, ownerOf(inventory), signal))) {
    await removeInventory(client, inventory)
    return { objects: [], complete: true }
  }
  const { client: there } = await target()
  const claimed = await claim(client, inventory)
  const pruned = await prune(there, claimed, claimed.entries, signal)
  const waits = inventory.deletionPolicy === 'WaitForTermination'
  const result = waits ? await awaitTermination(there, inventory.user, pruned, signal) : pruned
  if (result.remaining.length === 0) await removeInventory(client, claimed)
  else await claim(client, claimed, { entries: result.remaining })
  return described(result)
}

function deletesAll({ prune, deletionPolicy }: Inventory): boolean {
  if (deletionPolicy === 'MirrorPrune') return prune
  return deletionPolicy !== 'Orphan'
}

/** The live Kustomization says so: `flux suspend` writes it there. */
async function isSuspendedLive(
  client: ClusterClient,
  { namespace, name }: Owner,
  signal: AbortSignal,
): Promise<boolean> {
  const id = { ...KUSTOMIZATION_ID, namespace, name }
  const find = () => client.discovery.findAnyVersion(id.apiVersion, id.kind)
  const found = await readLive(client, 'worker', id, { find, whole: true, signal })
  return isSuspended(found?.live)
}

function prune(client: ClusterClient, inventory: Inventory, entries: readonly InventoryEntry[], signal: AbortSignal) {
  return pruneObjects(client, { user: inventory.user, owner: ownerOf(inventory), entries, signal })
}

function ownerOf({ node }: Inventory): Owner {
  const [, namespace, name] = node.split('/')
  return { namespace: namespace!, name: name! }
}

function described({ objects, remaining }: PruneResult): PruneOutcome {
  return {
    complete: remaining.length === 0,
    objects: objects.map(({ id, action, message }) => ({
      object: id,
      action: action === 'deleted' ? 'pruned' : action === 'failed' ? 'refused' : 'unchanged',
      ...(message === undefined ? {} : { message }),
    })),
  }
}
