import { isDeepStrictEqual } from 'node:util'
import type { ApprovedNode } from '../../src/approval/approve.ts'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import { assertVerified } from '../../src/cluster/assert-verified.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { idOf } from '../../src/cluster/id-of.ts'
import { claim, type Inventory } from '../../src/cluster/inventory.ts'
import { entryOf, type InventoryEntry, unionEntries } from '../../src/cluster/inventory-entry.ts'
import { refuseOwnTarget } from '../../src/cluster/refuse-own-target.ts'
import { KUSTOMIZE_GROUP } from '../../src/flux/kinds.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'
import { type ApplyTarget, inventoryAt, newNodeInventory } from './apply-target.ts'
import { isSettled } from './is-settled.ts'
import type { Moves } from './moves.ts'
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
  /** Of a node that was applied completely before: what others had changed or deleted. */
  readonly drift: readonly AppliedObject[]
}

/**
 * Applies one approved node as its account. What it is about to create is recorded before it is created, fenced by the
 * inventory's resourceVersion: a crash leaves nothing unrecorded, and of two workers one stops (`cluster-fenced`). Where
 * nothing is written on the cluster and the inventory says so already, it is not written either. `target`: where its kubeConfig
 * leads. `moves`: what it may take over; absent: nothing.
 */
export async function applyNode(
  client: ClusterClient,
  node: ApprovedNode,
  known: Inventory | undefined,
  signal: AbortSignal,
  target: ApplyTarget = { client },
  moves?: Moves,
): Promise<NodeResult> {
  const { key, user, parent, prune, combination } = node
  const own = { parent, user, prune, deletionPolicy: node.settings.deletionPolicy }
  const before = inventoryAt(client, known, target) ?? newNodeInventory(client, node, target)
  const id = { apiVersion: `${KUSTOMIZE_GROUP}/v1`, kind: 'Kustomization', namespace: node.namespace, name: node.name }
  // before anything is read as this account: keys, for example
  await refuseOwnTarget(client, { user, id })
  const actor = node.impersonated ? { user } : 'worker'
  for (const { id: source, commit, verify } of [node.source, ...(node.source.includes ?? [])]) {
    if (verify !== undefined) await assertVerified(client, actor, { id: source!, commit, verify }, signal)
  }
  const { objects, confidential } = openObjects(node)
  const planned = objects.map(object => entryOf(idOf(object)))
  let claimed = before
  const applied = await applyObjects(target.client, {
    user,
    owner: { namespace: node.namespace, name: node.name },
    objects,
    confidential,
    known: before.entries,
    // the platform takes over what bootstrap put there, as Flux does; a tenant never takes what is not its own
    adopt: node.tenant === null,
    ...(moves ? { isReleased: (owner, entry) => moves.isReleased(node, owner, entry) } : {}),
    force: node.settings.force,
    ignore: node.settings.ignore,
    signal,
    beforeWrite: async () => {
      const entries = unionEntries(before.entries, planned)
      claimed = await claim(client, before, { ...own, combination, entries, settled: false })
    },
  })
  const wanted = new Set(planned.map(entry => entry.id))
  const stale = before.entries.filter(entry => !wanted.has(entry.id))
  const complete = applied.failed === 0
  const drift = driftIn(applied.objects, node, before)
  const result = { key, objects: applied.objects.flatMap(described), complete, stale, drift }
  // refused before anything was written
  if (!complete && claimed === before) return { ...result, inventory: known ?? before }

  const present = applied.objects.flatMap(object => object.entry ?? [])
  const entries = unionEntries(planned, stale, present)
  const done = { revision: node.source.commit, digest: node.applyDigest, settled: stale.length === 0 }
  const content = { ...own, entries, ...(complete ? done : {}) }
  if (claimed === before && isDeepStrictEqual({ ...before, ...content }, before))
    return { ...result, inventory: before }
  return { ...result, inventory: await claim(client, claimed, { ...content, combination }) }
}

type Result = Awaited<ReturnType<typeof applyObjects>>['objects'][number]

/** What had to be written though the cluster held all of it. */
function driftIn(objects: readonly Result[], node: ApprovedNode, before: Inventory): AppliedObject[] {
  if (!isSettled(node, before)) return []
  return objects
    .filter(({ action }) => action === 'created' || action === 'configured' || action === 'recreated')
    .map(one => ({ ...described(one), ...(one.drift ? { drift: one.drift } : {}) }))
}

function described({ id, action, message, fields }: Result): AppliedObject {
  const outcome = action === 'failed' ? 'refused' : action === 'recreated' ? 'configured' : action
  const named = fields === undefined ? {} : { fields: fields.map(field => ({ field })) }
  return { object: id, action: outcome, ...(message === undefined ? {} : { message }), ...named }
}
