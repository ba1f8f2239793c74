import type { ApprovedNode } from '../../src/approval/approve.ts'
import { accountIsGone } from '../../src/cluster/account-is-gone.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { parseExact } from '../../src/cluster/exact-json.ts'
import { idOf } from '../../src/cluster/id-of.ts'
import { type Inventory, readInventories } from '../../src/cluster/inventory.ts'
import { entryOf, idOfEntry } from '../../src/cluster/inventory-entry.ts'
import { nodeFailure } from '../../src/cluster/node-failure.ts'
import { readyByExpression } from '../../src/cluster/ready-by-expression.ts'
import {
  endsWithObjects,
  isRequested,
  isSuspendedByHand,
  recordedEntries,
} from '../../src/cluster/status/live-kustomization.ts'
import { KUSTOMIZE_GROUP } from '../../src/flux/kinds.ts'
import type { AppliedNode, AppliedObject } from '../../src/report/apply-report.ts'
import { adoptInventory } from './adopt-inventory.ts'
import { applyInLanes } from './apply-in-lanes.ts'
import { applyNode, type NodeResult } from './apply-node.ts'
import { inventoryAt, leftElsewhere, targetOfInventory, targetOfNode } from './apply-target.ts'
import type { Approved } from './approved-nodes.ts'
import { ClusterMemory } from './cluster-memory.ts'
import type { HealthWatch, NodeHealth } from './health-watch.ts'
import { heldPrunes } from './held-prunes.ts'
import { isSettled } from './is-settled.ts'
import { pruneNode, pruneStale } from './prune-node.ts'
import { releaseKustomizations } from './release-kustomizations.ts'
import { removedNodes } from './removed-nodes.ts'
import { changesOf, showFailure, showHeld, showResult, showSuspended } from './show-node.ts'
import { openStatusBoard, type StatusBoard } from './status-board.ts'

/**
 * Brings a cluster to what is approved: applies every node that is not settled, side by side and parents first, then
 * prunes the nodes that are gone, then what the remaining ones have no more. Accounts and namespaces so go last, after
 * everything that needed them. A node that failed rests, see NodeRetries.
 * Throws `cluster-unavailable` and `cluster-fenced`: run it again, it takes up where it stands.
 */
export async function applyApproved(
  client: ClusterClient,
  approved: Approved,
  signal: AbortSignal,
  memory: ClusterMemory = new ClusterMemory(),
): Promise<AppliedNode[]> {
  const inventories = await readInventories(client, client.name, memory.inventories)
  const known = new Map(inventories.map(inventory => [inventory.node, inventory]))
  memory.inventories = new Map(known)
  const results = new Map<string, NodeResult>()
  const said = new Map<string, AppliedNode>()
  const board = await openStatusBoard(client, memory.board)
  const evaluated = new Map(approved.nodes.map(node => [node.key, node]))
  for (const { node: key, reason } of approved.held) {
    const node = evaluated.get(key)
    said.set(key, { key, user: node?.user ?? '', outcome: 'held', reason, objects: [] })
    if (node) showHeld(board, node, reason)
  }
  memory.progress = () => inOrder(approved, said)
  const run: Run = { client, memory, signal, results, said, board, took: new Map(), health: new Map() }
  memory.keep(new Set(approved.apply.map(({ key }) => key)))
  // `flux suspend` is no change of git, and holds all the same
  const nodes = approved.apply.map(node => (isSuspendedByHand(board.live(node)) ? { ...node, suspend: true } : node))
  await applyInLanes(nodes, {
    ...(memory.lanes === undefined ? {} : { lanes: memory.lanes }),
    held: (node, reason, dependency) => {
      const { key, user } = node
      said.set(key, { key, user, outcome: 'held', reason, objects: [] })
      if (node.suspend) showSuspended(board, node)
      else showHeld(board, node, reason, dependency)
    },
    apply: node => applyOne(run, node, known),
  })
  await adoptHeld(run, approved, known)
  const complete = new Set([...results.values()].filter(result => result.complete).map(({ key }) => key))
  const unfinished = await pruneAll(run, approved, [...known.values()], complete)
  await release(run, approved, known, unfinished)
  const unshown = await board.written()
  const [first] = inOrder(approved, said)
  if (board.unusable !== undefined && first)
    said.set(first.key, withNote(first, `no status is shown: ${board.unusable}`))
  for (const [key, note] of unshown) if (said.has(key)) said.set(key, withNote(said.get(key)!, note))
  return inOrder(approved, said)
}

interface Run {
  readonly client: ClusterClient
  readonly memory: ClusterMemory
  readonly signal: AbortSignal
  /** In the order in which their turns ended: parents before children. */
  readonly results: Map<string, NodeResult>
  readonly said: Map<string, AppliedNode>
  readonly board: StatusBoard
  /** Milliseconds that each turn took. */
  readonly took: Map<string, number>
  readonly health: Map<string, NodeHealth>
}

/** The turn of one node; true: the cluster holds all of it. */
async function applyOne(run: Run, node: ApprovedNode, known: Map<string, Inventory>): Promise<boolean> {
  const { client, memory, signal, results, said, board, took } = run
  const { key, user } = node
  signal.throwIfAborted()
  const live = board.live(node)
  const requested = isRequested(live)
  let inventory = known.get(key)
  if (isSettled(node, inventory) && !memory.isSuspect(key) && !requested) {
    results.set(key, { key, objects: [], complete: true, inventory, stale: [] })
    const objects = inventory.entries.map(entry => ({ object: idOfEntry(entry), action: 'unchanged' as const }))
    said.set(key, { key, user, outcome: 'applied', objects })
    return await checkHealth(run, node, 'settled', 0)
  }
  const resting = memory.retries.resting(node)
  if (resting && !requested) {
    said.set(key, resting)
    return false
  }
  memory.clear(key)
  const start = performance.now()
  try {
    if (!(await isReady(run, node))) return false
    const target = await targetOfNode(client, memory.remotes, node)
    const left = leftElsewhere(client, inventory, target)
    inventory = inventoryAt(client, inventory, target)
    const planned = () => new Set(node.objects.map(text => entryOf(idOf(parseExact(text))).id))
    inventory = await adoptInventory(client, node, inventory, recordedEntries(live), planned, target)
    if (inventory) known.set(key, inventory)
    const result = await applyNode(client, node, inventory, signal, target)
    results.set(key, result)
    memory.inventories.set(key, result.inventory)
    said.set(key, { key, user, outcome: 'applied', objects: result.objects, ...left })
    took.set(key, performance.now() - start)
    if (result.complete) {
      memory.looked(key)
      const isChanged = result.objects.some(({ action }) => action === 'created' || action === 'configured')
      return await checkHealth(run, node, isChanged ? 'changed' : 'applied', took.get(key)!)
    }
    showResult(board, node, result, took.get(key)!)
    fail(memory, node, said.get(key)!)
    return false
  } catch (error) {
    const { message } = await nodeFailure(client, error, signal)
    said.set(key, { key, user, outcome: 'failed', reason: message, objects: [] })
    showFailure(board, node, { reason: 'ReconciliationFailed', message })
    fail(memory, node, said.get(key)!)
    return false
  }
}

/** Whether the expressions of its dependencies hold; it is held, and tried again, where one does not. */
async function isReady({ client, memory, signal, said, board }: Run, node: ApprovedNode): Promise<boolean> {
  const { key, user, cluster, hub = cluster } = node
  for (const expression of node.settings.readyExprs) {
    const reason = await readyByExpression(client, node, expression, signal)
    if (reason === undefined) continue
    said.set(key, { key, user, outcome: 'held', reason, objects: [] })
    showHeld(board, node, reason, `${hub}/${expression.dependency}`)
    fail(memory, node, said.get(key)!)
    return false
  }
  return true
}

/** What was applied completely is done when it is healthy; what becomes so later is seen by another run. */
async function checkHealth(
  { client, memory, results, said, board, health }: Run,
  node: ApprovedNode,
  what: Parameters<HealthWatch['look']>[2],
  tookMs: number,
): Promise<boolean> {
  const { key } = node
  const open = async () => (await targetOfNode(client, memory.remotes, node)).client
  const found = await memory.health.look(open, node, what)
  health.set(key, found)
  const result = results.get(key)!
  // what it has no more is deleted at the end of the run
  if (result.stale.length === 0) showResult(board, node, { ...result, health: found }, tookMs)
  const before = said.get(key)!
  if (found.state === 'failed' || found.state === 'timeout') {
    said.set(key, { ...before, outcome: 'failed', reason: found.reason })
    fail(memory, node, said.get(key)!)
    return false
  }
  memory.retries.forget(key)
  if (found.state !== 'waiting') return true
  said.set(key, { ...before, reason: 'its health checks still run' })
  return false
}

/** What git has and nobody may apply now is taken over, too: it may leave git before it is ever applied. */
async function adoptHeld(
  { client, memory, signal, said, board }: Run,
  approved: Approved,
  known: Map<string, Inventory>,
) {
  for (const node of approved.nodes) {
    if (said.get(node.key)?.outcome !== 'held' || known.has(node.key) || !node.impersonated) continue
    const recorded = recordedEntries(board.live(node))
    if (recorded.length === 0) continue
    try {
      const target = await targetOfNode(client, memory.remotes, node)
      const adopted = await adoptInventory(client, node, undefined, recorded, () => new Set(), target)
      if (adopted) known.set(node.key, adopted)
    } catch (error) {
      const { message } = await nodeFailure(client, error, signal)
      const before = said.get(node.key)
      if (before) said.set(node.key, withNote(before, `what Flux recorded of it could not be taken over: ${message}`))
    }
  }
}

function fail(memory: ClusterMemory, node: ApprovedNode, said: AppliedNode): void {
  memory.retries.failed(node, said)
  // the inventory may still say that it is settled: what was to be looked at was not seen
  memory.suspect(node.key)
}

async function pruneAll(
  run: Run,
  approved: Approved,
  inventories: readonly Inventory[],
  complete: ReadonlySet<string>,
): Promise<Map<string, Inventory>> {
  const { client, memory, signal, results, said, board, took, health } = run
  const nodes = new Map(approved.apply.map(node => [node.key, node]))
  const present = new Set(approved.nodes.map(node => node.key))
  const parents = new Map(inventories.map(({ node, parent }) => [node, parent]))
  for (const { key, parent } of approved.nodes) parents.set(key, parent)
  const unfinished = new Set<string>()
  const rest = new Map<string, Inventory>()
  const gone = removedNodes(inventories, present, complete).map(inventory => {
    const live = board.live(placeOf(inventory))
    // how it ends is what its Kustomization says as long as there is one: its deletionPolicy, and whether it is suspended
    if (live === undefined) return inventory
    return endsWithObjects(live) ? { ...inventory, prune: true } : { ...inventory, deletionPolicy: 'Orphan' as const }
  })
  const held = await heldPrunes({ gone, results: results.values(), present }, approved.prunes)
  for (const inventory of gone) {
    const end = await pruneGone(run, inventory, held.get(inventory.node))
    if (end !== 'finished') rest.set(inventory.node, inventory)
    // whoever has something left to delete still needs the account and the rights that its ancestors gave it
    if (end === 'unfinished')
      for (let up = inventory.parent; up !== null && !unfinished.has(up); up = parents.get(up) ?? null)
        unfinished.add(up)
  }
  for (const result of [...results.values()].reverse()) {
    const { key } = result
    if (!result.complete || result.stale.length === 0 || unfinished.has(key)) continue
    const before = said.get(key)!
    const node = nodes.get(key)!
    const reason = held.get(key)
    if (reason !== undefined) {
      said.set(key, { ...before, outcome: 'held', reason })
      showHeld(board, node, reason)
      continue
    }
    try {
      const target = () => targetOfInventory(client, memory.remotes, result.inventory)
      const pruned = await pruneStale(client, result.inventory, result.stale, signal, target)
      const { objects, inventory } = pruned
      memory.inventories.set(key, inventory)
      const all = [...before.objects, ...objects]
      said.set(key, { ...before, objects: all })
      showResult(
        board,
        node,
        { objects: all, complete: true, inventory, pruned: pruned.complete, health: health.get(key) },
        took.get(key) ?? 0,
      )
    } catch (error) {
      const { message } = await nodeFailure(client, error, signal)
      said.set(key, { ...before, outcome: 'failed', reason: message })
      showFailure(board, node, { reason: 'PruneFailed', message })
    }
  }
  return rest
}

/** Lets go of deleted Kustomizations. `unfinished`: nodes that are gone and have something left. */
async function release(
  { client, board, said, signal }: Run,
  approved: Approved,
  known: ReadonlyMap<string, Inventory>,
  unfinished: ReadonlyMap<string, Inventory>,
): Promise<void> {
  const deleted = [...said.values()].flatMap(({ objects }) => objects.flatMap(deletedKustomization))
  const present = new Set(approved.nodes.map(({ key }) => key))
  const gone = [...said.values()].filter(({ key }) => !present.has(key))
  const pruned = new Map(gone.map(({ key, objects }) => [key, changesOf(objects)]))
  const ended = { present, unfinished, known: new Set(known.keys()), deleted, pruned }
  try {
    await releaseKustomizations(client, board, ended, signal)
  } catch (error) {
    // the next run does it
    const { message } = await nodeFailure(client, error, signal)
    const root = said.get(approved.nodes[0]?.key ?? '')
    if (root) said.set(root.key, withNote(root, `deleted Kustomizations could not be released: ${message}`))
  }
}

function placeOf({ node }: Inventory): { namespace: string; name: string } {
  const [, namespace, name] = node.split('/')
  return { namespace: namespace!, name: name! }
}

function deletedKustomization({ object, action }: AppliedObject): { namespace: string; name: string }[] {
  const isOne = object.kind === 'Kustomization' && object.apiVersion.startsWith(`${KUSTOMIZE_GROUP}/`)
  return isOne && action === 'pruned' ? [{ namespace: object.namespace, name: object.name }] : []
}

/** Ends a node that is gone. `orphaned`: something of it is left, and its account is gone. `held`: why that waits. */
async function pruneGone(
  { client, memory, signal, said }: Run,
  inventory: Inventory,
  held: string | undefined,
): Promise<'finished' | 'unfinished' | 'orphaned'> {
  const { node: key, user } = inventory
  if (held !== undefined) {
    said.set(key, { key, user, outcome: 'held', reason: held, objects: [] })
    return 'unfinished'
  }
  try {
    memory.inventories.delete(key)
    const target = () => targetOfInventory(client, memory.remotes, inventory)
    const { objects, complete } = await pruneNode(client, inventory, signal, target)
    said.set(key, { key, user, outcome: 'applied', objects })
    if (complete) return 'finished'
    // nobody can delete it any more, and nobody must wait for that
    return (await accountIsGone(client, user)) ? 'orphaned' : 'unfinished'
  } catch (error) {
    const { message } = await nodeFailure(client, error, signal)
    said.set(key, { key, user, outcome: 'failed', reason: message, objects: [] })
    return 'unfinished'
  }
}

function withNote(said: AppliedNode, note: string): AppliedNode {
  return { ...said, note: said.note === undefined ? note : `${said.note}; ${note}` }
}

/** As they were evaluated, then the nodes that are gone: the same whoever was quicker. */
function inOrder(approved: Approved, said: ReadonlyMap<string, AppliedNode>): AppliedNode[] {
  const evaluated = new Set(approved.nodes.map(({ key }) => key))
  const gone = [...said.keys()].filter(key => !evaluated.has(key))
  return [...evaluated, ...gone].flatMap(key => said.get(key) ?? [])
}
