import { massPrunes, type PruneLimits } from '../../src/approval/mass-prune.ts'
import type { Inventory } from '../../src/cluster/inventory.ts'
import { type InventoryEntry, idOfEntry } from '../../src/cluster/inventory-entry.ts'
import type { NodeResult } from './apply-node.ts'
import type { Moves } from './moves.ts'

/** What an operator and fleet admins say about deleting much at once. */
export interface PrunePolicy {
  readonly limits: PruneLimits
  /** Digests and prints of what is approved; asked only where something would wait. `nodes`: keys of what waits. */
  approvals(nodes: readonly string[]): Promise<ReadonlySet<string>>
}

interface Prunes {
  /** Of nodes that are gone. */
  readonly gone: readonly Inventory[]
  /** Of nodes that remain. */
  readonly results: Iterable<NodeResult>
  /** Keys of the nodes that remain. */
  readonly present: ReadonlySet<string>
  readonly moves: Moves
}

/** Why a node's prune waits for an approval, by its key. */
export async function heldPrunes(
  { gone, results, present, moves }: Prunes,
  policy: PrunePolicy | undefined,
): Promise<ReadonlyMap<string, string>> {
  const done = [...results].filter(({ complete }) => complete)
  // what another node has taken over is not deleted: it no longer carries the labels of this one
  const taken = new Set(done.flatMap(({ inventory, stale }) => ownedBy(inventory, stale)))
  const going = (from: Inventory, entries: readonly InventoryEntry[]) =>
    entries
      .filter(entry => !taken.has(entry.id) && moves.takerOf(from, entry) === undefined)
      .map(entry => ({ id: idOfEntry(entry), uid: entry.uid ?? '' }))
  const prunes = [
    ...gone.flatMap(inventory => {
      const { node, entries, prune } = inventory
      const objects = going(inventory, entries)
      // all that it had goes on elsewhere
      if (entries.length > 0 && objects.length === 0) return []
      return [{ node, objects: prune ? objects : [], had: entries.length, gone: true }]
    }),
    ...done.flatMap(({ key, inventory, stale }) => {
      const had = inventory.entries.length
      return inventory.prune ? [{ node: key, objects: going(inventory, stale), had, gone: false }] : []
    }),
  ]
  const held = massPrunes(prunes, present, policy?.limits)
  if (held.size === 0 || policy === undefined) return reasons(held)
  return reasons(massPrunes(prunes, present, policy.limits, await policy.approvals([...held.keys()])))
}

/** What a node has, without what it would have deleted. An entry with a uid carries its labels. */
function ownedBy({ entries }: Inventory, stale: readonly InventoryEntry[]): string[] {
  const going = new Set(stale.map(({ id }) => id))
  return entries.flatMap(({ id, uid }) => (uid === undefined || going.has(id) ? [] : [id]))
}

function reasons(held: ReturnType<typeof massPrunes>): ReadonlyMap<string, string> {
  return new Map([...held].map(([node, { reason }]) => [node, reason]))
}
