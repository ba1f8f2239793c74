import type { ApprovedNode } from '../../src/approval/approve.ts'
import { accountIsGone } from '../../src/cluster/account-is-gone.ts'
import { eachLimited } from '../../src/cluster/each-limited.ts'
import type { Inventory } from '../../src/cluster/inventory.ts'
import { nodeFailure } from '../../src/cluster/node-failure.ts'
import { endsWithObjects } from '../../src/cluster/status/live-kustomization.ts'
import type { NodeResult } from './apply-node.ts'
import { type ApplyTarget, targetOfInventory } from './apply-target.ts'
import type { Approved } from './approved-nodes.ts'
import { dependentsFirst } from './dependents-first.ts'
import { heldPrunes } from './held-prunes.ts'
import { END, LEFT_BEHIND, type Observe } from './node-turns.ts'
import { pruneNode, pruneStale } from './prune-node.ts'
import { removedNodes } from './removed-nodes.ts'
import type { Run } from './run.ts'
import { showFailure, showHeld, showResult } from './show-node.ts'

/** How many nodes are pruned at once. */
const AT_ONCE = 16

/**
 * Deletes what is gone, side by side: nodes that are gone, children before parents, then what the remaining ones have no
 * more, each before what it needs. Returns the nodes that are gone and of which something is left, by key.
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
    const live = board.live(placeOf(inventory))
    // how it ends is what its Kustomization says as long as there is one: its deletionPolicy, and whether it is suspended
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
  // the same order whoever was quicker
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

/** Deletes what nodes have no more that were applied; who needs others goes before them. */
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

/** True: it goes on beside the run, or something stays until another node takes it over. */
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

/** Ends a node that is gone. `orphaned`: something of it is left, and its account is gone. `held`: why that waits. */
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
    // nobody can delete it any more, and nobody must wait for that
    return (await accountIsGone(client, user)) ? 'orphaned' : 'unfinished'
  } catch (error) {
    const { message } = await nodeFailure(client, error, signal)
    applied.set(key, { key, user, outcome: 'failed', reason: message, objects: [] })
    return 'unfinished'
  }
}

/** Where the objects of an inventory are, with requests that are progress of the turn. */
function observedTarget({ client, memory }: Run, inventory: Inventory, observe: Observe) {
  return async (): Promise<ApplyTarget> => {
    const target = await targetOfInventory(client, memory.remotes, inventory)
    return { ...target, client: observe(target.client) }
  }
}

function placeOf({ node }: Inventory): { namespace: string; name: string } {
  const [, namespace, name] = node.split('/')
  return { namespace: namespace!, name: name! }
}
