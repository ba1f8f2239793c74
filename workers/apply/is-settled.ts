import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { Inventory } from '../../src/cluster/inventory.ts'

/**
 * The node was applied with exactly this content, account and settings, and nothing of it is left to prune. Whether somebody
 * changed it since then is another question.
 */
export function isSettled(node: ApprovedNode, inventory: Inventory | undefined): inventory is Inventory {
  if (inventory?.settled !== true || inventory.digest !== node.applyDigest) return false
  const target = node.settings.kubeConfig === undefined ? undefined : node.cluster
  return inventory.parent === node.parent && inventory.target?.cluster === target
}
