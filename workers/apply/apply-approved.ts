import { type ClusterClient, readLive } from '../../src/cluster/client.ts'
import { failureScope, nodeFailure } from '../../src/cluster/cluster-error.ts'
import { readyByExpression } from '../../src/cluster/health.ts'
import {
  claim,
  entryOf,
  type Inventory,
  type InventoryEntry,
  idOfEntry,
  readInventories,
  unionEntries,
} from '../../src/cluster/inventory.ts'
import { idOf, parseExact, stringAt } from '../../src/cluster/json.ts'
import { carriesLabelsOf } from '../../src/cluster/ownership.ts'
import {
  isRequested,
  isSuspendedByHand,
  isTrue,
  recordedEntries,
} from '../../src/cluster/status/kustomization-status.ts'
import { KUSTOMIZE_GROUP } from '../../src/kube/flux-kinds.ts'
import type { AppliedNode, AppliedObject } from '../../src/report/apply-report.ts'
import type { EvaluatedNode } from '../../src/rules/model/finding.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import {
  type ApplyTarget,
  applyNode,
  inventoryAt,
  isSettled,
  leftElsewhere,
  type NodeResult,
  newNodeInventory,
  targetOfNode,
  targetToApply,
} from './apply-node.ts'
import type { Approved } from './approved-nodes.ts'
import { ClusterMemory, type Run } from './cluster-memory.ts'
import type { HealthWatch } from './health-watch.ts'
import { applyInLanes, END, LEFT_BEHIND, type Observe } from './node-turns.ts'
import { pruneAll } from './prune-run.ts'
import { changesOf, releaseKustomizations, showFailure, showHeld, showResult, showSuspended } from './show-node.ts'
import { openStatusBoard } from './status-board.ts'

/**
 * Applies what is approved to a cluster: every node that is not settled, in parallel and parents first; then prunes the
 * removed nodes, then what the remaining ones no longer have. Accounts and namespaces go last, after everything that
 * needed them. A failed node is retried later, see NodeRetries. Throws `cluster-unavailable` and `cluster-fenced`: the
 * next run continues from there.
 */
export async function applyApproved(
  client: ClusterClient,
  approved: Approved,
  signal: AbortSignal,
  memory?: ClusterMemory,
): Promise<AppliedNode[]> {
  if (memory) return applyAll(client, approved, signal, memory)
  const once = new ClusterMemory()
  try {
    return await applyAll(client, approved, signal, once)
  } finally {
    // no later run would see the results of its turns
    await once.close()
  }
}

async function applyAll(
  client: ClusterClient,
  approved: Approved,
  signal: AbortSignal,
  memory: ClusterMemory,
): Promise<AppliedNode[]> {
  // a turn that an earlier run left behind may still write to inventories, and the board shows whether it is wanted
  const [board, early] = await Promise.all([
    openStatusBoard(client, memory.board),
    memory.turns.isIdle ? readInventories(client, client.name, memory.inventories) : undefined,
  ])
  // `flux suspend` counts although it does not change git
  const nodes = approved.apply.map(node => (isSuspendedByHand(board.live(node)) ? { ...node, suspend: true } : node))
  await memory.turns.keep(isStillWanted(approved, nodes))
  const inventories = early ?? (await readInventories(client, client.name, memory.inventories))
  const known = new Map(inventories.map(inventory => [inventory.node, inventory]))
  memory.inventories = new Map(known)
  memory.moves.replace(client.name, approved)
  const results = new Map<string, NodeResult>()
  const applied = new Map<string, AppliedNode>()
  const evaluated = new Map(approved.nodes.map(node => [node.key, node]))
  const notYet: (() => void)[] = []
  for (const { node: key, reason } of approved.held) {
    const node = evaluated.get(key)
    applied.set(key, { key, user: node?.user ?? '', outcome: 'held', reason, objects: [] })
    // a node that its parent creates in this run is shown once it exists
    if (node && board.live(node)) showHeld(board, node, reason)
    else if (node) notYet.push(() => showHeld(board, node, reason))
  }
  memory.progress = () => inOrder(approved, applied)
  const run: Run = { client, memory, signal, results, applied, board, took: new Map(), health: new Map() }
  memory.keep(new Set(approved.apply.map(({ key }) => key)))
  await applyInLanes(nodes, {
    ...(memory.lanes === undefined ? {} : { lanes: memory.lanes }),
    held: (node, reason, dependency) => {
      const { key, user } = node
      const ready = node.suspend ? 'Suspended' : dependency === undefined ? undefined : 'DependencyNotReady'
      applied.set(key, { key, user, outcome: 'held', reason, objects: [], ...(ready ? { ready } : {}) })
      if (node.suspend) showSuspended(board, node)
      else showHeld(board, node, reason, dependency)
    },
    isReady: node => isTrue(board.live(node) ?? null, 'Ready'),
    apply: node => turnOf(run, node, known),
  })
  for (const show of notYet) show()
  await adoptHeld(run, approved, known)
  const complete = new Set([...results.values()].filter(result => result.complete).map(({ key }) => key))
  const unfinished = await pruneAll(run, approved, [...known.values()], complete)
  await release(run, approved, known, unfinished)
  const unshown = await board.written()
  const [first] = inOrder(approved, applied)
  if (board.unusable !== undefined && first)
    applied.set(first.key, withNote(first, `no status is shown: ${board.unusable}`))
  for (const [key, note] of unshown) if (applied.has(key)) applied.set(key, withNote(applied.get(key)!, note))
  return inOrder(approved, applied)
}

/** Whether a turn that was left behind is still wanted: the same apply, or the end of a node that is still removed. */
function isStillWanted({ nodes }: Approved, apply: readonly ApprovedNode[]) {
  const digests = new Map(apply.filter(({ suspend }) => !suspend).map(({ key, applyDigest }) => [key, applyDigest]))
  const present = new Set(nodes.map(({ key }) => key))
  return (key: string, what: string) => (what === END ? !present.has(key) : digests.get(key) === what)
}

/** The turn of one node; true: the cluster has all of it. Another run reports a turn that is left behind. */
async function turnOf(run: Run, node: ApprovedNode, known: Map<string, Inventory>): Promise<boolean | 'left'> {
  const { client, memory, signal, applied, results, took, board } = run
  const { key, user, applyDigest: what } = node
  signal.throwIfAborted()
  const requested = isRequested(board.live(node))
  const inventory = known.get(key)
  if (isSettled(node, inventory) && !memory.isSuspect(key) && !memory.turns.isBusy(key) && !requested) {
    results.set(key, { key, objects: [], complete: true, inventory, stale: [], drift: [] })
    const objects = inventory.entries.map(entry => ({ object: idOfEntry(entry), action: 'unchanged' as const }))
    applied.set(key, { key, user, outcome: 'applied', objects })
    return checkHealth(run, node, 'settled', 0)
  }
  const resting = memory.retries.resting(node)
  if (resting && !requested) {
    applied.set(key, resting)
    return false
  }
  const turn = await memory.turns.run(client, { key, what }, signal, (...own) => applyOne(run, node, inventory, ...own))
  if (turn === 'left') {
    applied.set(key, { key, user, outcome: 'failed', reason: LEFT_BEHIND, objects: [] })
    return turn
  }
  applied.set(key, turn.applied)
  if (turn.adopted) known.set(key, turn.adopted)
  if (!turn.result) return false
  results.set(key, turn.result)
  took.set(key, turn.tookMs)
  if (!turn.result.complete) return false
  const isChanged = turn.result.objects.some(({ action }) => action === 'created' || action === 'configured')
  return checkHealth(run, node, isChanged ? 'changed' : 'applied', turn.tookMs)
}

/** The result of a node's turn. `adopted`: its inventory at the start of the turn. */
interface Turned {
  readonly applied: AppliedNode
  readonly adopted?: Inventory | undefined
  readonly result?: NodeResult
  readonly tookMs: number
}

/** Applies a node. The caller reports the result, because the run may be over by then. */
async function applyOne(
  run: Run,
  node: ApprovedNode,
  known: Inventory | undefined,
  client: ClusterClient,
  signal: AbortSignal,
  observe: Observe,
): Promise<Turned> {
  const { memory, board } = run
  const { key, user } = node
  memory.clear(key)
  const start = performance.now()
  const tookMs = () => performance.now() - start
  let adopted = known
  try {
    const waits = await waitsFor(run, node, client, signal)
    if (waits) return { applied: waits, tookMs: tookMs() }
    const planned = () => new Set(node.objects.map(text => entryOf(idOf(parseExact(text))).id))
    const found = await targetToApply(client, memory.remotes, node)
    const target = found.client === client ? found : { ...found, client: observe(found.client) }
    const elsewhere = leftElsewhere(client, known, target)
    const here = inventoryAt(client, known, target)
    adopted = await adoptInventory(client, node, here, recordedEntries(board.live(node)), planned, target)
    const result = await applyNode(client, node, adopted, signal, target, memory.moves)
    memory.inventories.set(key, result.inventory)
    const applied: AppliedNode = { key, user, outcome: 'applied', objects: result.objects, ...elsewhere }
    memory.drift.note(key, result.drift)
    if (result.complete) memory.looked(key)
    else {
      showResult(board, node, result, tookMs())
      fail(memory, node, applied)
    }
    return { applied, adopted, result, tookMs: tookMs() }
  } catch (error) {
    const { message } = await nodeFailure(run.client, error, signal)
    const applied: AppliedNode = { key, user, outcome: 'failed', reason: message, objects: [] }
    showFailure(board, node, { reason: 'ReconciliationFailed', message })
    fail(memory, node, applied)
    return { applied, adopted, tookMs: tookMs() }
  }
}

/** The ready expression of a dependency that is false; the node is then held, and tried again. */
async function waitsFor(
  { memory, board }: Run,
  node: ApprovedNode,
  client: ClusterClient,
  signal: AbortSignal,
): Promise<AppliedNode | undefined> {
  const { key, user, cluster, hub = cluster } = node
  for (const expression of node.settings.readyExprs) {
    // it may have been applied just now
    await board.shown(`${hub}/${expression.dependency}`)
    const reason = await readyByExpression(client, node, expression, signal)
    if (reason === undefined) continue
    const applied: AppliedNode = { key, user, outcome: 'held', reason, ready: 'DependencyNotReady', objects: [] }
    showHeld(board, node, reason, `${hub}/${expression.dependency}`)
    fail(memory, node, applied)
    return applied
  }
  return undefined
}

/** A completely applied node is done when it is healthy; another run sees what becomes healthy later. */
async function checkHealth(
  { client, memory, results, applied, board, health }: Run,
  node: ApprovedNode,
  what: Parameters<HealthWatch['look']>[2],
  tookMs: number,
): Promise<boolean> {
  const { key } = node
  const open = async () => (await targetOfNode(client, memory.remotes, node)).client
  const found = await memory.health.look(open, node, what)
  health.set(key, found)
  const result = results.get(key)!
  // objects that it no longer has are deleted at the end of the run
  if (result.stale.length === 0) showResult(board, node, { ...result, health: found }, tookMs)
  const before = applied.get(key)!
  if (found.state === 'failed' || found.state === 'timeout') {
    applied.set(key, { ...before, outcome: 'failed', reason: found.reason, ready: 'HealthCheckFailed' })
    fail(memory, node, applied.get(key)!)
    return false
  }
  memory.retries.forget(key)
  if (found.state !== 'waiting') return true
  applied.set(key, { ...before, reason: 'its health checks still run' })
  return false
}

/** Adopts held nodes too: they may leave git before they are ever applied. */
async function adoptHeld(
  { client, memory, signal, applied, board }: Run,
  approved: Approved,
  known: Map<string, Inventory>,
) {
  for (const node of approved.nodes) {
    if (applied.get(node.key)?.outcome !== 'held' || known.has(node.key) || !node.impersonated) continue
    const recorded = recordedEntries(board.live(node))
    if (recorded.length === 0) continue
    try {
      const target = await targetOfNode(client, memory.remotes, node)
      const adopted = await adoptInventory(client, node, undefined, recorded, () => new Set(), target)
      if (adopted) known.set(node.key, adopted)
    } catch (error) {
      const { message } = await nodeFailure(client, error, signal)
      const before = applied.get(node.key)
      if (before)
        applied.set(node.key, withNote(before, `what Flux recorded of it could not be taken over: ${message}`))
    }
  }
}

function fail(memory: ClusterMemory, node: ApprovedNode, applied: AppliedNode): void {
  memory.retries.failed(node, applied)
  // the inventory may still say that it is settled, but its objects were not checked
  memory.suspect(node.key)
}

/** Releases deleted Kustomizations. `unfinished`: removed nodes with objects left. */
async function release(
  { client, memory, board, applied, signal }: Run,
  approved: Approved,
  known: ReadonlyMap<string, Inventory>,
  unfinished: ReadonlyMap<string, Inventory>,
): Promise<void> {
  const deleted = [...applied.values()].flatMap(({ objects }) => objects.flatMap(deletedKustomization))
  const present = new Set(approved.nodes.map(({ key }) => key))
  const gone = [...applied.values()].filter(({ key }) => !present.has(key))
  const pruned = new Map(gone.map(({ key, objects }) => [key, changesOf(objects)]))
  const ended = { present, unfinished, known: new Set(known.keys()), deleted, pruned }
  try {
    await releaseKustomizations(client, board, { ...ended, moves: memory.moves }, signal)
  } catch (error) {
    // the next run does it
    const { message } = await nodeFailure(client, error, signal)
    const root = applied.get(approved.nodes[0]?.key ?? '')
    if (root) applied.set(root.key, withNote(root, `deleted Kustomizations could not be released: ${message}`))
  }
}

function deletedKustomization({ object, action }: AppliedObject): { namespace: string; name: string }[] {
  const isOne = object.kind === 'Kustomization' && object.apiVersion.startsWith(`${KUSTOMIZE_GROUP}/`)
  return isOne && action === 'pruned' ? [{ namespace: object.namespace, name: object.name }] : []
}

function withNote(applied: AppliedNode, note: string): AppliedNode {
  return { ...applied, note: applied.note === undefined ? note : `${applied.note}; ${note}` }
}

/** In the order of the evaluation, then the removed nodes, so that timing does not change the order. */
function inOrder(approved: Approved, applied: ReadonlyMap<string, AppliedNode>): AppliedNode[] {
  const evaluated = new Set(approved.nodes.map(({ key }) => key))
  const gone = [...applied.keys()].filter(key => !evaluated.has(key))
  return [...evaluated, ...gone].flatMap(key => applied.get(key) ?? [])
}

type Adopting = Pick<EvaluatedNode, 'cluster' | 'key' | 'namespace' | 'name' | 'parent' | 'user' | 'prune'>

/**
 * Takes over what kustomize-controller recorded of a node: entries of its `status.inventory` that our inventory lacks
 * and whose live object, read as the account, carries the owner labels of exactly this Kustomization. Unrecorded
 * objects are never pruned. `planned`: ids that are applied anyway. Stored before it is returned.
 */
async function adoptInventory(
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

/** The uid of the live object if it is this node's. What the account may not read, it could not prune either. */
async function ownedUid(client: ClusterClient, node: Adopting, entry: InventoryEntry): Promise<string | undefined> {
  try {
    const id = idOfEntry(entry)
    const found = await readLive(client, { user: node.user }, id)
    return found?.live !== undefined && carriesLabelsOf(found.live, node)
      ? stringAt(found.live, 'metadata', 'uid')
      : undefined
  } catch (error) {
    if (failureScope(error) === 'object') return undefined
    throw error
  }
}
