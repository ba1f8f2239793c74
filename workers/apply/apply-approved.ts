import type { ClusterClient } from '../../src/cluster/client.ts'
import { type Inventory, readInventories } from '../../src/cluster/inventory.ts'
import { nodeFailure } from '../../src/cluster/node-failure.ts'
import type { AppliedNode, AppliedObject } from '../../src/report/apply-report.ts'
import { applyNode, type NodeResult } from './apply-node.ts'
import { applySequence } from './apply-sequence.ts'
import type { Approved } from './approved-nodes.ts'
import { pruneNode, pruneStale } from './prune-node.ts'
import { removedNodes } from './removed-nodes.ts'

/**
 * Brings a cluster to what is approved: applies every node parents first, then prunes the nodes that are gone, then what
 * the remaining ones have no more. Accounts and namespaces so go last, after everything that needed them.
 * Throws `cluster-unavailable` and `cluster-fenced`: run it again, it takes up where it stands.
 */
export async function applyApproved(
  client: ClusterClient,
  approved: Approved,
  signal: AbortSignal,
): Promise<AppliedNode[]> {
  const inventories = await readInventories(client)
  const known = new Map(inventories.map(inventory => [inventory.node, inventory]))
  const results = new Map<string, NodeResult>()
  const said = new Map<string, AppliedNode>()
  for (const { node: key, reason } of approved.held) said.set(key, heldNode(approved, key, reason))
  for (const step of applySequence(approved.apply, key => results.get(key)?.complete === true)) {
    const { node } = step
    if ('held' in step) {
      said.set(node.key, { key: node.key, user: node.user, outcome: 'held', reason: step.held, objects: [] })
      continue
    }
    signal.throwIfAborted()
    try {
      const result = await applyNode(client, node, known.get(node.key), signal)
      results.set(node.key, result)
      said.set(node.key, { key: node.key, user: node.user, outcome: 'applied', objects: result.objects })
    } catch (error) {
      const { message } = await nodeFailure(client, error, signal)
      said.set(node.key, { key: node.key, user: node.user, outcome: 'failed', reason: message, objects: [] })
    }
  }
  const complete = new Set([...results.values()].filter(result => result.complete).map(result => result.node.key))
  await pruneAll(client, approved, inventories, { results, complete, said }, signal)
  return [...said.values()]
}

interface Progress {
  readonly results: ReadonlyMap<string, NodeResult>
  readonly complete: ReadonlySet<string>
  readonly said: Map<string, AppliedNode>
}

async function pruneAll(
  client: ClusterClient,
  approved: Approved,
  inventories: readonly Inventory[],
  { results, complete, said }: Progress,
  signal: AbortSignal,
): Promise<void> {
  const present = new Set(approved.nodes.map(node => node.key))
  const unfinished = new Set<string>()
  for (const inventory of removedNodes(inventories, present, complete)) {
    const { node: key, user } = inventory
    let finished = false
    try {
      const pruned = await pruneNode(client, inventory, signal)
      finished = pruned.complete
      said.set(key, { key, user, outcome: 'applied', objects: pruned.objects })
    } catch (error) {
      const { message } = await nodeFailure(client, error, signal)
      said.set(key, { key, user, outcome: 'failed', reason: message, objects: [] })
    }
    // whoever has something left to delete still needs the account and the rights that its ancestors gave it
    if (!finished)
      for (let up = inventory.parent; up !== null; up = parentOf(up, approved, inventories)) unfinished.add(up)
  }
  for (const result of [...results.values()].reverse()) {
    const { key } = result.node
    if (!result.complete || unfinished.has(key)) continue
    try {
      const { objects } = await pruneStale(client, result.inventory, result.stale, signal)
      said.set(key, { ...said.get(key)!, objects: [...said.get(key)!.objects, ...objects] })
    } catch (error) {
      const { message } = await nodeFailure(client, error, signal)
      said.set(key, { ...said.get(key)!, outcome: 'failed', reason: message })
    }
  }
}

function parentOf(key: string, approved: Approved, inventories: readonly Inventory[]): string | null {
  const node = approved.nodes.find(one => one.key === key) ?? inventories.find(one => one.node === key)
  return node?.parent ?? null
}

function heldNode({ nodes }: Approved, key: string, reason: string): AppliedNode {
  const objects: readonly AppliedObject[] = []
  return { key, user: nodes.find(node => node.key === key)?.user ?? '', outcome: 'held', reason, objects }
}
