import type { Inventory } from '../../src/cluster/inventory.ts'

/**
 * The nodes whose end is certain, children before parents: they have an inventory, the evaluation knows them no more, and
 * the node that used to render them was applied completely just now (or is itself one whose end is certain). What a
 * parent that is red, held or unreadable does not show is not gone.
 */
export function removedNodes(
  inventories: readonly Inventory[],
  present: ReadonlySet<string>,
  applied: ReadonlySet<string>,
): Inventory[] {
  const byNode = new Map(inventories.map(inventory => [inventory.node, inventory]))
  const certain = (inventory: Inventory, seen: ReadonlySet<string>): boolean => {
    const { node, parent } = inventory
    if (present.has(node) || parent === null || seen.has(node)) return false
    if (applied.has(parent)) return true
    const above = byNode.get(parent)
    return above !== undefined && certain(above, new Set([...seen, node]))
  }
  const depth = (inventory: Inventory, limit = inventories.length): number => {
    const above = inventory.parent === null || limit === 0 ? undefined : byNode.get(inventory.parent)
    return above ? 1 + depth(above, limit - 1) : 0
  }
  const removed = inventories.filter(inventory => certain(inventory, new Set()))
  return removed.sort((a, b) => depth(b) - depth(a) || (a.node < b.node ? -1 : 1))
}
