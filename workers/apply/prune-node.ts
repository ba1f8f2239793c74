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
import { keptFor, type Moves } from './moves.ts'

const KUSTOMIZATION_ID = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization' }

interface PruneOutcome {
  readonly objects: readonly AppliedObject[]
  /** False: something could not be deleted. */
  readonly complete: boolean
  /** Something stays until another node takes it over. */
  readonly kept: boolean
}

/** With the inventory as it was stored last. */
interface StaleOutcome extends PruneOutcome {
  readonly inventory: Inventory
}

/** Where objects of an inventory are, and which of them another node takes over. */
interface PruneWhere {
  readonly target?: () => Promise<ApplyTarget>
  readonly moves: Moves
}

/**
 * Deletes what a node that was applied completely has no more, as its account; what could not be deleted, and what another
 * node is to take over, stays in the inventory.
 */
export async function pruneStale(
  client: ClusterClient,
  inventory: Inventory,
  stale: readonly InventoryEntry[],
  signal: AbortSignal,
  { target = async () => ({ client }), moves }: PruneWhere,
): Promise<StaleOutcome> {
  if (stale.length === 0) return { ...NOTHING, inventory }
  const gone = new Set(stale.map(entry => entry.id))
  const kept = inventory.entries.filter(entry => !gone.has(entry.id))
  const result = inventory.prune
    ? await prune((await target()).client, inventory, stale, { moves, signal })
    : leave(inventory, stale, moves)
  if (result.remaining.length === stale.length) return { ...described(result), inventory }
  const settled = result.remaining.length === 0
  const stored = await claim(client, inventory, { entries: unionEntries(kept, result.remaining), settled })
  return { ...described(result), inventory: stored }
}

const NOTHING: PruneOutcome = { objects: [], complete: true, kept: false }

/**
 * Ends a node that its parent renders no more: deletes what it has where its `deletionPolicy` and `prune` ask for that, and
 * forgets it. As with Flux, one that is suspended leaves everything. With WaitForTermination it ends when all is gone. What
 * another node takes over stays in the inventory until it did.
 */
export async function pruneNode(
  client: ClusterClient,
  inventory: Inventory,
  signal: AbortSignal,
  { target = async () => ({ client }), moves }: PruneWhere,
): Promise<PruneOutcome> {
  if (!deletesAll(inventory) || (await isSuspendedLive(client, ownerOf(inventory), signal))) {
    const { remaining: entries } = leave(inventory, inventory.entries, moves)
    if (entries.length === 0) await removeInventory(client, inventory)
    else if (entries.length < inventory.entries.length) await claim(client, inventory, { entries })
    return NOTHING
  }
  const { client: there } = await target()
  const claimed = await claim(client, inventory)
  const pruned = await prune(there, claimed, claimed.entries, { moves, signal })
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

function prune(
  client: ClusterClient,
  inventory: Inventory,
  entries: readonly InventoryEntry[],
  { moves, signal }: { readonly moves: Moves; readonly signal: AbortSignal },
) {
  const keep = keptFor(moves, inventory)
  return pruneObjects(client, { user: inventory.user, owner: ownerOf(inventory), entries, keep, signal })
}

/** Deletes nothing: only what another node has not taken over yet is still to be looked after. */
function leave(inventory: Inventory, entries: readonly InventoryEntry[], moves: Moves): PruneResult {
  return { objects: [], remaining: entries.filter(entry => moves.isAwaited(inventory, entry)) }
}

function ownerOf({ node }: Inventory): Owner {
  const [, namespace, name] = node.split('/')
  return { namespace: namespace!, name: name! }
}

const OUTCOMES = { deleted: 'pruned', skipped: 'unchanged', kept: 'skipped', failed: 'refused' } as const

function described({ objects }: PruneResult): PruneOutcome {
  return {
    complete: objects.every(({ action }) => action !== 'failed'),
    kept: objects.some(({ action }) => action === 'kept'),
    objects: objects.map(({ id, action, message }) => ({
      object: id,
      action: OUTCOMES[action],
      ...(message === undefined ? {} : { message }),
    })),
  }
}
