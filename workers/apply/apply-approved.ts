import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { parseExact } from '../../src/cluster/exact-json.ts'
import { idOf } from '../../src/cluster/id-of.ts'
import { type Inventory, readInventories } from '../../src/cluster/inventory.ts'
import { entryOf, idOfEntry } from '../../src/cluster/inventory-entry.ts'
import { nodeFailure } from '../../src/cluster/node-failure.ts'
import { readyByExpression } from '../../src/cluster/ready-by-expression.ts'
import { isRequested, isSuspendedByHand, isTrue, recordedEntries } from '../../src/cluster/status/live-kustomization.ts'
import { KUSTOMIZE_GROUP } from '../../src/flux/kinds.ts'
import type { AppliedNode, AppliedObject } from '../../src/report/apply-report.ts'
import { adoptInventory } from './adopt-inventory.ts'
import { applyInLanes } from './apply-in-lanes.ts'
import { applyNode, type NodeResult } from './apply-node.ts'
import { inventoryAt, leftElsewhere, targetOfNode, targetToApply } from './apply-target.ts'
import type { Approved } from './approved-nodes.ts'
import { ClusterMemory } from './cluster-memory.ts'
import type { HealthWatch } from './health-watch.ts'
import { isSettled } from './is-settled.ts'
import { END, LEFT_BEHIND, type Observe } from './node-turns.ts'
import { pruneAll } from './prune-run.ts'
import { releaseKustomizations } from './release-kustomizations.ts'
import type { Run } from './run.ts'
import { changesOf, showFailure, showHeld, showResult, showSuspended } from './show-node.ts'
import { openStatusBoard } from './status-board.ts'

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
  memory?: ClusterMemory,
): Promise<AppliedNode[]> {
  if (memory) return applyAll(client, approved, signal, memory)
  const once = new ClusterMemory()
  try {
    return await applyAll(client, approved, signal, once)
  } finally {
    // nobody would hear of what goes on
    await once.close()
  }
}

async function applyAll(
  client: ClusterClient,
  approved: Approved,
  signal: AbortSignal,
  memory: ClusterMemory,
): Promise<AppliedNode[]> {
  // a turn that an earlier run left behind may still write to inventories, and the board says whether it is wanted
  const [board, early] = await Promise.all([
    openStatusBoard(client, memory.board),
    memory.turns.isIdle ? readInventories(client, client.name, memory.inventories) : undefined,
  ])
  // `flux suspend` is no change of git, and holds all the same
  const nodes = approved.apply.map(node => (isSuspendedByHand(board.live(node)) ? { ...node, suspend: true } : node))
  await memory.turns.keep(isStillWanted(approved, nodes))
  const inventories = early ?? (await readInventories(client, client.name, memory.inventories))
  const known = new Map(inventories.map(inventory => [inventory.node, inventory]))
  memory.inventories = new Map(known)
  memory.moves.replace(client.name, approved)
  const results = new Map<string, NodeResult>()
  const said = new Map<string, AppliedNode>()
  const evaluated = new Map(approved.nodes.map(node => [node.key, node]))
  const notYet: (() => void)[] = []
  for (const { node: key, reason } of approved.held) {
    const node = evaluated.get(key)
    said.set(key, { key, user: node?.user ?? '', outcome: 'held', reason, objects: [] })
    // what its parent makes in this run is shown when it is there
    if (node && board.live(node)) showHeld(board, node, reason)
    else if (node) notYet.push(() => showHeld(board, node, reason))
  }
  memory.progress = () => inOrder(approved, said)
  const run: Run = { client, memory, signal, results, said, board, took: new Map(), health: new Map() }
  memory.keep(new Set(approved.apply.map(({ key }) => key)))
  await applyInLanes(nodes, {
    ...(memory.lanes === undefined ? {} : { lanes: memory.lanes }),
    held: (node, reason, dependency) => {
      const { key, user } = node
      const ready = node.suspend ? 'Suspended' : dependency === undefined ? undefined : 'DependencyNotReady'
      said.set(key, { key, user, outcome: 'held', reason, objects: [], ...(ready ? { ready } : {}) })
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
  const [first] = inOrder(approved, said)
  if (board.unusable !== undefined && first)
    said.set(first.key, withNote(first, `no status is shown: ${board.unusable}`))
  for (const [key, note] of unshown) if (said.has(key)) said.set(key, withNote(said.get(key)!, note))
  return inOrder(approved, said)
}

/** Whether a turn that was left behind does what is to be done now: the same apply, or the end of a node that is still gone. */
function isStillWanted({ nodes }: Approved, apply: readonly ApprovedNode[]) {
  const digests = new Map(apply.filter(({ suspend }) => !suspend).map(({ key, applyDigest }) => [key, applyDigest]))
  const present = new Set(nodes.map(({ key }) => key))
  return (key: string, what: string) => (what === END ? !present.has(key) : digests.get(key) === what)
}

/** The turn of one node; true: the cluster holds all of it. What becomes of one that is left behind, another run says. */
async function turnOf(run: Run, node: ApprovedNode, known: Map<string, Inventory>): Promise<boolean | 'left'> {
  const { client, memory, signal, said, results, took, board } = run
  const { key, user, applyDigest: what } = node
  signal.throwIfAborted()
  const requested = isRequested(board.live(node))
  const inventory = known.get(key)
  if (isSettled(node, inventory) && !memory.isSuspect(key) && !memory.turns.isBusy(key) && !requested) {
    results.set(key, { key, objects: [], complete: true, inventory, stale: [], drift: [] })
    const objects = inventory.entries.map(entry => ({ object: idOfEntry(entry), action: 'unchanged' as const }))
    said.set(key, { key, user, outcome: 'applied', objects })
    return checkHealth(run, node, 'settled', 0)
  }
  const resting = memory.retries.resting(node)
  if (resting && !requested) {
    said.set(key, resting)
    return false
  }
  const turn = await memory.turns.run(client, { key, what }, signal, (...own) => applyOne(run, node, inventory, ...own))
  if (turn === 'left') {
    said.set(key, { key, user, outcome: 'failed', reason: LEFT_BEHIND, objects: [] })
    return turn
  }
  said.set(key, turn.said)
  if (turn.adopted) known.set(key, turn.adopted)
  if (!turn.result) return false
  results.set(key, turn.result)
  took.set(key, turn.tookMs)
  if (!turn.result.complete) return false
  const isChanged = turn.result.objects.some(({ action }) => action === 'created' || action === 'configured')
  return checkHealth(run, node, isChanged ? 'changed' : 'applied', turn.tookMs)
}

/** What became of a node's turn. `adopted`: its inventory as the turn began. */
interface Turned {
  readonly said: AppliedNode
  readonly adopted?: Inventory | undefined
  readonly result?: NodeResult
  readonly tookMs: number
}

/** Applies a node. The run may be over meanwhile: what is said of it is left to the caller. */
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
    if (waits) return { said: waits, tookMs: tookMs() }
    const planned = () => new Set(node.objects.map(text => entryOf(idOf(parseExact(text))).id))
    const found = await targetToApply(client, memory.remotes, node)
    const target = found.client === client ? found : { ...found, client: observe(found.client) }
    const elsewhere = leftElsewhere(client, known, target)
    const here = inventoryAt(client, known, target)
    adopted = await adoptInventory(client, node, here, recordedEntries(board.live(node)), planned, target)
    const result = await applyNode(client, node, adopted, signal, target, memory.moves)
    memory.inventories.set(key, result.inventory)
    const said: AppliedNode = { key, user, outcome: 'applied', objects: result.objects, ...elsewhere }
    memory.drift.note(key, result.drift)
    if (result.complete) memory.looked(key)
    else {
      showResult(board, node, result, tookMs())
      fail(memory, node, said)
    }
    return { said, adopted, result, tookMs: tookMs() }
  } catch (error) {
    const { message } = await nodeFailure(run.client, error, signal)
    const said: AppliedNode = { key, user, outcome: 'failed', reason: message, objects: [] }
    showFailure(board, node, { reason: 'ReconciliationFailed', message })
    fail(memory, node, said)
    return { said, adopted, tookMs: tookMs() }
  }
}

/** Which expression of its dependencies does not hold; it is held then, and tried again. */
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
    const said: AppliedNode = { key, user, outcome: 'held', reason, ready: 'DependencyNotReady', objects: [] }
    showHeld(board, node, reason, `${hub}/${expression.dependency}`)
    fail(memory, node, said)
    return said
  }
  return undefined
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
    said.set(key, { ...before, outcome: 'failed', reason: found.reason, ready: 'HealthCheckFailed' })
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

/** Lets go of deleted Kustomizations. `unfinished`: nodes that are gone and have something left. */
async function release(
  { client, memory, board, said, signal }: Run,
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
    await releaseKustomizations(client, board, { ...ended, moves: memory.moves }, signal)
  } catch (error) {
    // the next run does it
    const { message } = await nodeFailure(client, error, signal)
    const root = said.get(approved.nodes[0]?.key ?? '')
    if (root) said.set(root.key, withNote(root, `deleted Kustomizations could not be released: ${message}`))
  }
}

function deletedKustomization({ object, action }: AppliedObject): { namespace: string; name: string }[] {
  const isOne = object.kind === 'Kustomization' && object.apiVersion.startsWith(`${KUSTOMIZE_GROUP}/`)
  return isOne && action === 'pruned' ? [{ namespace: object.namespace, name: object.name }] : []
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
