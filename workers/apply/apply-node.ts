import type { ApprovedNode } from '../../src/approval/approve.ts'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { idOf } from '../../src/cluster/id-of.ts'
import { claim, type Inventory, newInventory } from '../../src/cluster/inventory.ts'
import { entryOf, type InventoryEntry, unionEntries } from '../../src/cluster/inventory-entry.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'
import { openObjects } from './open-objects.ts'

export interface NodeResult {
  readonly key: string
  readonly objects: readonly AppliedObject[]
  /** False: the API server refused something; nothing of the node is pruned then. */
  readonly complete: boolean
  /** As stored last: holds what the node has and what is still to be pruned. */
  readonly inventory: Inventory
  /** What the node had and has no more. */
  readonly stale: readonly InventoryEntry[]
}

/**
 * Applies one approved node as its account. What it is about to create is recorded before it is created, fenced by the
 * inventory's resourceVersion: a crash leaves nothing unrecorded, and of two workers one stops (`cluster-fenced`).
 */
export async function applyNode(
  client: ClusterClient,
  node: ApprovedNode,
  known: Inventory | undefined,
  signal: AbortSignal,
): Promise<NodeResult> {
  const before = known ?? newInventory(node.cluster, node.key, node.user)
  const objects = await openObjects(client, node)
  const planned = objects.map(object => entryOf(idOf(object)))
  const claimed = await claim(client, before, {
    parent: node.parent,
    user: node.user,
    prune: node.prune,
    combination: node.combination,
    entries: unionEntries(before.entries, planned),
    settled: false,
  })
  const owner = { namespace: node.namespace, name: node.name }
  // the platform takes over what bootstrap put there, as Flux does; a tenant never takes what is not its own
  const adopt = node.tenant === null
  const applied = await applyObjects(client, { user: node.user, owner, objects, known: before.entries, adopt, signal })
  const present = applied.objects.flatMap(result => result.entry ?? [])
  const wanted = new Set(planned.map(entry => entry.id))
  const stale = before.entries.filter(entry => !wanted.has(entry.id))
  const complete = applied.failed === 0
  const inventory = await claim(client, claimed, {
    entries: unionEntries(planned, stale, present),
    ...(complete ? { revision: node.source.commit, digest: node.applyDigest, settled: stale.length === 0 } : {}),
  })
  return { key: node.key, objects: applied.objects.flatMap(described), complete, inventory, stale }
}

type Result = Awaited<ReturnType<typeof applyObjects>>['objects'][number]

function described({ id, action, message }: Result): AppliedObject {
  const said = action === 'failed' ? 'refused' : action === 'skipped' ? 'unchanged' : action
  return { object: id, action: said, ...(message === undefined ? {} : { message }) }
}
