import type { ClusterClient } from '../../src/cluster/client.ts'
import { failureScope } from '../../src/cluster/failure-scope.ts'
import { claim, type Inventory } from '../../src/cluster/inventory.ts'
import { type InventoryEntry, idOfEntry, unionEntries } from '../../src/cluster/inventory-entry.ts'
import { stringAt } from '../../src/cluster/json-at.ts'
import { carriesLabelsOf } from '../../src/cluster/ownership.ts'
import { readLive } from '../../src/cluster/read-live.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import { type ApplyTarget, newNodeInventory } from './apply-target.ts'

type Adopting = Pick<EvaluatedNode, 'cluster' | 'key' | 'namespace' | 'name' | 'parent' | 'user' | 'prune'>

/**
 * Takes over what kustomize-controller recorded of a node: entries of its `status.inventory` that our inventory lacks and
 * whose live object, read as the account, carries the owner labels of exactly this Kustomization. What nobody knows of is
 * never pruned. `planned`: ids that are applied anyway. Stored before it is returned; as it was where there is nothing.
 */
export async function adoptInventory(
  client: ClusterClient,
  node: Adopting,
  known: Inventory | undefined,
  recorded: readonly InventoryEntry[],
  planned: () => ReadonlySet<string>,
  target: ApplyTarget = { client },
): Promise<Inventory | undefined> {
  const ids = new Set(known?.entries.map(({ id }) => id))
  const unknown = recorded.filter(({ id }) => !ids.has(id))
  if (unknown.length === 0) return known
  const applied = planned()
  const adopted: InventoryEntry[] = []
  for (const entry of unknown) {
    if (applied.has(entry.id)) continue
    const uid = await ownedUid(target.client, node, entry)
    if (uid !== undefined) adopted.push({ id: entry.id, v: entry.v, uid })
  }
  if (adopted.length === 0) return known
  const before = known ?? newNodeInventory(client, node, target)
  const { parent, user, prune } = node
  return claim(client, before, { parent, user, prune, entries: unionEntries(before.entries, adopted), settled: false })
}

/** The uid of the live object where it is this node's. What its account may not read, it could not prune either. */
async function ownedUid(client: ClusterClient, node: Adopting, entry: InventoryEntry): Promise<string | undefined> {
  try {
    const id = idOfEntry(entry)
    const find = () => client.discovery.findAnyVersion(id.apiVersion, id.kind)
    const found = await readLive(client, { user: node.user }, id, { find })
    return found?.live !== undefined && carriesLabelsOf(found.live, node)
      ? stringAt(found.live, 'metadata', 'uid')
      : undefined
  } catch (error) {
    if (failureScope(error) === 'object') return undefined
    throw error
  }
}
