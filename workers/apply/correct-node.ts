import type { ApprovedNode } from '../../src/approval/approve.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { Inventory } from '../../src/cluster/inventory.ts'
import { nodeFailure } from '../../src/cluster/node-failure.ts'
import { readKustomization } from '../../src/cluster/status/kustomizations.ts'
import { isSuspended } from '../../src/cluster/status/live-kustomization.ts'
import type { Log } from '../../src/process/log.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { applyNode, type NodeResult } from './apply-node.ts'
import { targetOfNode, targetToApply } from './apply-target.ts'
import type { ClusterMemory } from './cluster-memory.ts'
import type { Observe } from './node-turns.ts'
import { showFailure, showResult } from './show-node.ts'
import { type StatusBoard, statusBoard } from './status-board.ts'

interface Correcting {
  readonly client: ClusterClient
  readonly memory: ClusterMemory
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * Applies a node again that was applied already, between two runs, and shows what that changed as kustomize-controller
 * does. Resolves when it is applied; `shown` when its Kustomization says so. A suspended one stays suspected.
 */
export async function correctNode(
  { client, memory, log, signal }: Correcting,
  node: ApprovedNode,
  inventory: Inventory,
): Promise<{ readonly shown: Promise<void> }> {
  const { key } = node
  memory.clear(key)
  const nothing = { shown: Promise.resolve() }
  try {
    const live = await readKustomization(client, node.namespace, node.name)
    // `flux suspend` since the last run: the next one says so
    if (isSuspended(live)) {
      memory.suspect(key)
      return nothing
    }
    const board = statusBoard(client, memory.board, live === undefined ? [] : [live])
    const turn = await memory.turns.run(client, { key, what: node.applyDigest }, signal, (...own) =>
      applyAgain(memory, node, inventory, ...own),
    )
    if (turn === 'left') return nothing
    const { result, tookMs } = turn
    const changed = result.objects.filter(({ action }) => action !== 'unchanged').map(({ object }) => object)
    if (changed.length > 0) log.info({ cluster: client.name, node: key, changed }, 'drift was put back')
    if (live === undefined) return nothing
    return { shown: show({ client, memory, log, signal }, board, node, result, tookMs) }
  } catch (error) {
    memory.suspect(key)
    const { message: reason } = await nodeFailure(client, error, signal)
    memory.retries.failed(node, { key, user: node.user, outcome: 'failed', reason, objects: [] })
    const live = await readKustomization(client, node.namespace, node.name).catch(() => undefined)
    if (live === undefined) return nothing
    const board = statusBoard(client, memory.board, [live])
    showFailure(board, node, { reason: 'ReconciliationFailed', message: reason })
    return { shown: written({ client, log }, board) }
  }
}

async function applyAgain(
  memory: ClusterMemory,
  node: ApprovedNode,
  inventory: Inventory,
  client: ClusterClient,
  signal: AbortSignal,
  observe: Observe,
): Promise<{ readonly result: NodeResult; readonly tookMs: number }> {
  const { key, user } = node
  const start = performance.now()
  const found = await targetToApply(client, memory.remotes, node)
  const target = found.client === client ? found : { ...found, client: observe(found.client) }
  const result = await applyNode(client, node, inventory, signal, target)
  memory.inventories.set(key, result.inventory)
  memory.drift.note(key, result.drift)
  if (result.complete) {
    memory.looked(key)
    memory.retries.forget(key)
  } else {
    const applied: AppliedNode = { key, user, outcome: 'applied', objects: result.objects }
    memory.suspect(key)
    memory.retries.failed(node, applied)
  }
  return { result, tookMs: performance.now() - start }
}

/** Its health checks may take a moment: nothing else waits for them. */
async function show(
  { client, memory, log }: Correcting,
  board: StatusBoard,
  node: ApprovedNode,
  result: NodeResult,
  tookMs: number,
): Promise<void> {
  const isChanged = result.objects.some(({ action }) => action === 'created' || action === 'configured')
  const open = async () => (await targetOfNode(client, memory.remotes, node)).client
  const health = result.complete ? await memory.health.look(open, node, isChanged ? 'changed' : 'applied') : undefined
  showResult(board, node, { ...result, health }, tookMs)
  await written({ client, log }, board)
}

async function written({ client, log }: Pick<Correcting, 'client' | 'log'>, board: StatusBoard): Promise<void> {
  for (const [node, reason] of await board.written()) log.warn({ cluster: client.name, node, reason }, 'not shown')
}
