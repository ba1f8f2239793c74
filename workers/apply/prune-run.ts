import { type ClusterClient, readLive } from '../../src/cluster/client.ts'
import { accountIsGone, nodeFailure } from '../../src/cluster/cluster-error.ts'
import {
  claim,
  type Inventory,
  type InventoryEntry,
  removeInventory,
  unionEntries,
} from '../../src/cluster/inventory.ts'
import type { Owner } from '../../src/cluster/ownership.ts'
import { awaitTermination, type PruneResult, pruneObjects } from '../../src/cluster/prune-objects.ts'
import { eachLimited } from '../../src/cluster/slots.ts'
import { endsWithObjects, isSuspended } from '../../src/cluster/status/kustomization-status.ts'
import { apiVersionOf, KUSTOMIZATION } from '../../src/kube/flux-kinds.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { type ApplyTarget, type NodeResult, targetOfInventory } from './apply-node.ts'
import { type Approved, heldPrunes } from './approved-nodes.ts'
import type { Run } from './cluster-memory.ts'
import { keptFor, type Moves } from './moves.ts'
import { END, LEFT_BEHIND, type Observe } from './node-turns.ts'
import { showFailure, showHeld, showResult } from './show-node.ts'

/** How many nodes are pruned at once. */
const AT_ONCE = 16

/**
 * Deletes in parallel: removed nodes, children before parents, then what the remaining ones no longer have, each before
 * what it needs. Returns the removed nodes with objects left, by key.
 */
export async function pruneAll(
  run: Run,
  approved: Approved,
  inventories: readonly Inventory[],
  complete: ReadonlySet<string>,
): Promise<Map<string, Inventory>> {
  const { results, applied, board } = run
  const present = new Set(approved.nodes.map(node => node.key))
  const gone = removedNodes(inventories, present, complete).map(inventory => {
    const live = board.live(ownerOf(inventory))
    // while its Kustomization exists, that decides how it ends: by its deletionPolicy, and whether it is suspended
    if (live === undefined) return inventory
    return endsWithObjects(live) ? { ...inventory, prune: true } : { ...inventory, deletionPolicy: 'Orphan' as const }
  })
  const held = await heldPrunes({ gone, results: results.values(), present, moves: run.memory.moves }, approved.prunes)
  const parents = new Map(inventories.map(({ node, parent }) => [node, parent]))
  for (const { key, parent } of approved.nodes) parents.set(key, parent)
  const blocked = new Set<string>()
  const block = (key: string) => {
    for (let up = parents.get(key) ?? null; up !== null && !blocked.has(up); up = parents.get(up) ?? null)
      blocked.add(up)
  }
  const rest = new Map<string, Inventory>()
  const waiting = new Set<string>()
  for (const group of dependentsFirst(gone, keyOfInventory, ({ parent }) => (parent === null ? [] : [parent]))) {
    await eachLimited(group, AT_ONCE, async inventory => {
      const { node: key } = inventory
      const waits = waiting.has(key)
      const end = await pruneGone(run, inventory, waits ? 'a Kustomization below it is not deleted yet' : held.get(key))
      if (end !== 'finished') rest.set(key, inventory)
      // a node with something left to delete still needs the account and the rights that its ancestors gave it
      if (end === 'finished' || end === 'orphaned') return
      block(key)
      if (inventory.parent !== null) waiting.add(inventory.parent)
    })
  }
  // an order that does not depend on timing
  for (const { node: key } of gone) {
    const one = applied.get(key)!
    applied.delete(key)
    applied.set(key, one)
  }
  await pruneRemaining(run, approved, { held, blocked, block })
  return rest
}

const keyOfInventory = ({ node }: Inventory): string => node

interface StalePrunes {
  readonly held: ReadonlyMap<string, string>
  /** Keys of nodes whose descendants still need what they have. */
  readonly blocked: ReadonlySet<string>
  readonly block: (key: string) => void
}

/** Deletes what applied nodes no longer have; nodes that need others go before them. */
async function pruneRemaining(run: Run, approved: Approved, { held, blocked, block }: StalePrunes): Promise<void> {
  const { results, applied, board } = run
  const nodes = new Map(approved.apply.map(node => [node.key, node]))
  const needs = ({ key }: NodeResult) => {
    const { parent, dependsOn } = nodes.get(key)!
    return parent === null ? dependsOn : [parent, ...dependsOn]
  }
  for (const group of dependentsFirst([...results.values()], ({ key }) => key, needs)) {
    const stale = group.filter(({ complete, stale }) => complete && stale.length > 0)
    await eachLimited(stale, AT_ONCE, async result => {
      const { key } = result
      const node = nodes.get(key)!
      const reason = held.get(key)
      if (blocked.has(key)) return
      if (reason === undefined) {
        if (await pruneResult(run, node, result)) block(key)
      } else {
        applied.set(key, { ...applied.get(key)!, outcome: 'held', reason })
        showHeld(board, node, reason)
      }
    })
  }
}

/** True: it continues beside the run, or an object stays until another node takes it over. */
async function pruneResult(run: Run, node: ApprovedNode, { inventory: before, stale }: NodeResult): Promise<boolean> {
  const { client, memory, signal, applied, board, took, health } = run
  const { key } = node
  const known = applied.get(key)!
  try {
    const at = { key, what: 'prune' }
    const turn = await memory.turns.run(client, at, signal, async (...own) => {
      const where = { target: observedTarget(run, before, own[2]), moves: memory.moves }
      const pruned = await pruneStale(own[0], before, stale, own[1], where)
      memory.inventories.set(key, pruned.inventory)
      const objects = [...known.objects, ...pruned.objects]
      const shown = { objects, complete: true, inventory: pruned.inventory, pruned: pruned.complete }
      showResult(board, node, { ...shown, health: health.get(key) }, took.get(key) ?? 0)
      return { objects, kept: pruned.kept }
    })
    if (turn === 'left') {
      applied.set(key, { ...known, outcome: 'failed', reason: LEFT_BEHIND })
      return true
    }
    const { objects, kept } = turn
    const isRefused = objects.some(({ action }) => action === 'refused')
    applied.set(key, { ...known, objects, ...(isRefused ? { ready: 'PruneFailed' } : {}) })
    return kept
  } catch (error) {
    const { message } = await nodeFailure(client, error, signal)
    applied.set(key, { ...known, outcome: 'failed', reason: message, ready: 'PruneFailed' })
    showFailure(board, node, { reason: 'PruneFailed', message })
    return false
  }
}

/** Ends a removed node. `orphaned`: objects of it are left, and its account is gone. `held`: why that waits. */
async function pruneGone(
  run: Run,
  inventory: Inventory,
  held: string | undefined,
): Promise<'finished' | 'unfinished' | 'orphaned' | 'left'> {
  const { client, memory, signal, applied } = run
  const { node: key, user } = inventory
  if (held !== undefined) {
    applied.set(key, { key, user, outcome: 'held', reason: held, objects: [] })
    return 'unfinished'
  }
  try {
    memory.inventories.delete(key)
    const turn = await memory.turns.run(client, { key, what: END }, signal, (...own) =>
      pruneNode(own[0], inventory, own[1], { target: observedTarget(run, inventory, own[2]), moves: memory.moves }),
    )
    if (turn === 'left') {
      applied.set(key, { key, user, outcome: 'failed', reason: LEFT_BEHIND, objects: [] })
      return 'left'
    }
    const { objects, complete, kept } = turn
    applied.set(key, { key, user, outcome: 'applied', objects })
    if (complete && !kept) return 'finished'
    // without the account nothing can delete it, so nothing may wait for that
    return (await accountIsGone(client, user)) ? 'orphaned' : 'unfinished'
  } catch (error) {
    const { message } = await nodeFailure(client, error, signal)
    applied.set(key, { key, user, outcome: 'failed', reason: message, objects: [] })
    return 'unfinished'
  }
}

/** The target of an inventory, with requests that are progress of the turn. */
function observedTarget({ client, memory }: Run, inventory: Inventory, observe: Observe) {
  return async (): Promise<ApplyTarget> => {
    const target = await targetOfInventory(client, memory.remotes, inventory)
    return { ...target, client: observe(target.client) }
  }
}

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
 * Deletes what a completely applied node no longer has, as its account; what could not be deleted, and what another
 * node is to take over, stays in the inventory.
 */
async function pruneStale(
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
 * Ends a node that its parent no longer renders: deletes its objects if its `deletionPolicy` and `prune` ask for that,
 * and forgets it. As with Flux, a suspended one leaves everything. With WaitForTermination it ends when all objects are
 * gone. What another node takes over stays in the inventory until then.
 */
async function pruneNode(
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

/** Whether the live Kustomization is suspended: `flux suspend` writes it there. */
async function isSuspendedLive(
  client: ClusterClient,
  { namespace, name }: Owner,
  signal: AbortSignal,
): Promise<boolean> {
  const id = { ...KUSTOMIZATION_ID, namespace, name }
  const found = await readLive(client, 'worker', id, { whole: true, signal })
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

/** Deletes nothing; keeps only the entries that another node has not taken over yet. */
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

/**
 * The nodes that are certainly removed, children before parents: they have an inventory, the evaluation no longer knows
 * them, and the node that rendered them was just applied completely (or is itself certainly removed). What a failed,
 * held or unreadable parent does not show does not count as removed.
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

/**
 * Groups items so that each comes before what it needs, starting with those that no item needs. Items of one group do
 * not need each other, except in a last group of cycles and what those need.
 */
export function dependentsFirst<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  needs: (item: T) => readonly string[],
): T[][] {
  const byKey = new Map(items.map(item => [keyOf(item), item]))
  const needed = (item: T) => new Set(needs(item).filter(key => byKey.has(key) && key !== keyOf(item)))
  /** How many items still need each. */
  const dependents = new Map(items.map(item => [keyOf(item), 0]))
  for (const item of items) for (const key of needed(item)) dependents.set(key, dependents.get(key)! + 1)
  const groups: T[][] = []
  const rest = new Set(items)
  for (let group = items.filter(item => dependents.get(keyOf(item)) === 0); group.length > 0; ) {
    groups.push(group)
    const next: T[] = []
    for (const item of group) {
      rest.delete(item)
      for (const key of needed(item)) {
        dependents.set(key, dependents.get(key)! - 1)
        if (dependents.get(key) === 0) next.push(byKey.get(key)!)
      }
    }
    group = next
  }
  return rest.size > 0 ? [...groups, [...rest]] : groups
}
