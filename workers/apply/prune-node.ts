import type { ClusterClient } from '../../src/cluster/client.ts'
import { claim, type Inventory, removeInventory } from '../../src/cluster/inventory.ts'
import { type InventoryEntry, unionEntries } from '../../src/cluster/inventory-entry.ts'
import { type PruneResult, pruneObjects } from '../../src/cluster/prune-objects.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'

interface PruneOutcome {
  readonly objects: readonly AppliedObject[]
  /** False: something is left to prune, and whoever gives the account its rights must stay. */
  readonly complete: boolean
  /** What the node has left on the cluster. */
  readonly entries: readonly InventoryEntry[]
}

/** Deletes what a node that was applied completely has no more, as its account; what could not be deleted stays in the inventory. */
export async function pruneStale(
  client: ClusterClient,
  inventory: Inventory,
  stale: readonly InventoryEntry[],
  signal: AbortSignal,
): Promise<PruneOutcome> {
  if (stale.length === 0) return { objects: [], complete: true, entries: inventory.entries }
  const gone = new Set(stale.map(entry => entry.id))
  const kept = inventory.entries.filter(entry => !gone.has(entry.id))
  if (!inventory.prune) {
    await claim(client, inventory, { entries: kept, settled: true })
    return { objects: [], complete: true, entries: kept }
  }
  const result = await prune(client, inventory, stale, signal)
  const settled = result.remaining.length === 0
  const entries = unionEntries(kept, result.remaining)
  await claim(client, inventory, { entries, settled })
  return { ...described(result), entries }
}

/** Ends a node that its parent renders no more: prunes it where it asked for that, and forgets it. */
export async function pruneNode(
  client: ClusterClient,
  inventory: Inventory,
  signal: AbortSignal,
): Promise<PruneOutcome> {
  if (!inventory.prune) {
    await removeInventory(client, inventory)
    return { objects: [], complete: true, entries: [] }
  }
  const claimed = await claim(client, inventory)
  const result = await prune(client, claimed, claimed.entries, signal)
  if (result.remaining.length === 0) await removeInventory(client, claimed)
  else await claim(client, claimed, { entries: result.remaining })
  return { ...described(result), entries: result.remaining }
}

function prune(client: ClusterClient, inventory: Inventory, entries: readonly InventoryEntry[], signal: AbortSignal) {
  const [, namespace, name] = inventory.node.split('/')
  const owner = { namespace: namespace!, name: name! }
  return pruneObjects(client, { user: inventory.user, owner, entries, signal })
}

function described({ objects, remaining }: PruneResult): Omit<PruneOutcome, 'entries'> {
  return {
    complete: remaining.length === 0,
    objects: objects.map(({ id, action, message }) => ({
      object: id,
      action: action === 'deleted' ? 'pruned' : action === 'failed' ? 'refused' : 'unchanged',
      ...(message === undefined ? {} : { message }),
    })),
  }
}
