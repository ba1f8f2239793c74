import { BailiwickError } from '../../src/base/errors.ts'
import type { ApiResource, ClusterClient } from '../../src/cluster/client.ts'
import { nodeFailure } from '../../src/cluster/cluster-error.ts'
import { type Inventory, type InventoryEntry, idOfEntry } from '../../src/cluster/inventory.ts'
import { stringAt } from '../../src/cluster/json.ts'
import { fieldPrint } from '../../src/cluster/server-side-apply.ts'
import { isSuspended } from '../../src/cluster/status/kustomization-status.ts'
import { readKustomization } from '../../src/cluster/status/kustomizations.ts'
import { watchKind } from '../../src/cluster/watch-kind.ts'
import type { Json } from '../../src/kube/node.ts'
import { groupOf } from '../../src/kube/object.ts'
import type { Log } from '../../src/process/log.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyNode, type NodeResult, targetOfNode, targetToApply } from './apply-node.ts'
import type { ClusterMemory } from './cluster-memory.ts'
import type { Observe } from './node-turns.ts'
import { showFailure, showResult } from './show-node.ts'
import { type StatusBoard, statusBoard } from './status-board.ts'

const REFUSED_MS = 600_000

/** An object of an inventory, and what the API server last answered when we applied it. */
interface Watched {
  readonly node: string
  readonly kind: string
}

interface Applied {
  readonly print: string
  readonly version: string
}

interface Seen extends Applied {
  readonly gone: boolean
}

interface WatchedKind {
  readonly abort: AbortController
  /** All existing objects were listed, and changes are reported. */
  isSynced: boolean
}

interface DriftListener {
  /** Another client changed or deleted objects of the node. */
  readonly drifted: (node: string) => void
  /** A kind that cannot be watched; its nodes are checked periodically instead. */
  readonly unwatched: (kind: string, error: BailiwickError) => void
}

/**
 * Watches the metadata of everything that inventories hold, one watch per kind, and reports the nodes that another
 * client changed. It knows its own writes by the API server's answers. Of objects only ids and digests are kept.
 */
export class DriftWatch {
  readonly #client: ClusterClient
  readonly #listener: DriftListener
  readonly #kinds = new Map<string, WatchedKind>()
  /** Kinds that cannot be watched, and when that is tried again. */
  readonly #refused = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()
  #watched = new Map<string, Watched>()
  #applied = new Map<string, Applied>()
  readonly #read = new Map<string, Applied>()
  /** Events during an apply: whether they are our own is known when it is over. */
  #early: Map<string, Seen> | undefined

  constructor(client: ClusterClient, listener: DriftListener) {
    this.#client = client
    this.#listener = listener
  }

  /** Wraps a client: what is applied through it is known as our own. */
  observed(client: ClusterClient): ClusterClient {
    return {
      ...client,
      request: async (actor, method, path, options) => {
        const answer = await client.request(actor, method, path, options)
        if (actor !== 'worker') this.#answered(method, options?.query?.dryRun !== undefined, answer.body)
        return answer
      },
    }
  }

  #answered(method: string, isDry: boolean, object: Json): void {
    const uid = stringAt(object, 'metadata', 'uid')
    if (uid === '' || (method !== 'GET' && method !== 'PATCH')) return
    const version = stringAt(object, 'metadata', 'resourceVersion')
    const read = this.#read.get(uid)
    // an object that a dry run leaves unchanged is as it was read before; other reads do not count as applied
    if (method === 'GET') this.#read.set(uid, { print: fieldPrint(object), version })
    else if (!isDry) this.#applied.set(uid, { print: fieldPrint(object), version })
    else if (read?.version === version) this.#applied.set(uid, read)
  }

  /** An apply begins: no event is evaluated until `settle`. */
  begin(): void {
    this.#early ??= new Map()
  }

  /** The apply is over, and these are all inventories: watches their kinds, and evaluates the events since `begin`. */
  async settle(inventories: Iterable<Inventory>): Promise<void> {
    const watched = new Map<string, Watched>()
    const kinds = new Map<string, InventoryEntry>()
    for (const { node, entries, target } of inventories) {
      // objects on other clusters are checked periodically
      if (target !== undefined) continue
      for (const entry of entries) {
        const kind = kindOf(entry)
        kinds.set(kind, entry)
        if (entry.uid !== undefined) watched.set(entry.uid, { node, kind })
      }
    }
    this.#watched = watched
    this.#read.clear()
    this.#applied = new Map([...this.#applied].filter(([uid]) => watched.has(uid)))
    for (const [kind, { abort }] of this.#kinds) if (!kinds.has(kind)) abort.abort()
    for (const [kind, entry] of kinds) if (this.#mayStart(kind)) await this.#start(kind, entry)
    const early = this.#early ?? new Map<string, Seen>()
    this.#early = undefined
    for (const [uid, seen] of early) this.#evaluateFleet(uid, seen)
  }

  /** Whether every object of the node is watched. */
  covers({ entries, target }: Pick<Inventory, 'entries' | 'target'>): boolean {
    return target === undefined && entries.every(entry => this.#kinds.get(kindOf(entry))?.isSynced === true)
  }

  async close(): Promise<void> {
    for (const { abort } of this.#kinds.values()) abort.abort()
    await Promise.all(this.#running)
  }

  #mayStart(kind: string): boolean {
    return !this.#kinds.has(kind) && Date.now() > (this.#refused.get(kind) ?? 0)
  }

  async #start(kind: string, entry: InventoryEntry): Promise<void> {
    const { apiVersion, kind: name } = idOfEntry(entry)
    const resource = await this.#client.discovery.findAnyVersion(apiVersion, name).catch(() => undefined)
    if (!resource) return
    const watched: WatchedKind = { abort: new AbortController(), isSynced: false }
    this.#kinds.set(kind, watched)
    const running = this.#follow(kind, resource, watched).finally(() => {
      this.#kinds.delete(kind)
      this.#running.delete(running)
    })
    this.#running.add(running)
  }

  async #follow(kind: string, resource: ApiResource, watched: WatchedKind): Promise<void> {
    const { signal } = watched.abort
    try {
      await watchKind(
        this.#client,
        resource,
        {
          listed: objects => {
            const there = new Set(objects.map(object => stringAt(object, 'metadata', 'uid')))
            for (const object of objects) this.#see(object, false)
            for (const [uid, one] of this.#watched) if (one.kind === kind && !there.has(uid)) this.#tell(uid, GONE)
            watched.isSynced = true
          },
          changed: (object, gone) => this.#see(object, gone),
          interrupted: () => {
            watched.isSynced = false
          },
        },
        signal,
      )
    } catch (error) {
      const known = error instanceof BailiwickError ? error : new BailiwickError('internal', String(error))
      if (!this.#refused.has(kind)) this.#listener.unwatched(kind, known)
      this.#refused.set(kind, Date.now() + REFUSED_MS)
    }
  }

  #see(object: Json, gone: boolean): void {
    const uid = stringAt(object, 'metadata', 'uid')
    const version = stringAt(object, 'metadata', 'resourceVersion')
    if (this.#early || this.#watched.has(uid)) this.#tell(uid, { print: gone ? '' : fieldPrint(object), version, gone })
  }

  #tell(uid: string, seen: Seen): void {
    if (this.#early) this.#early.set(uid, seen)
    else this.#evaluateFleet(uid, seen)
  }

  #evaluateFleet(uid: string, { print, version, gone }: Seen): void {
    const watched = this.#watched.get(uid)
    const applied = this.#applied.get(uid)
    if (!watched) return
    // an object that this process never applied is checked in the turn of its node
    if (!gone && (!applied || print === applied.print || isOlder(version, applied.version))) return
    this.#listener.drifted(watched.node)
  }
}

const GONE: Seen = { print: '', version: '', gone: true }

/** Versions of one kind of object grow; false if they are not numbers, because their order is then unknown. */
function isOlder(version: string, than: string): boolean {
  return /^\d+$/.test(version) && /^\d+$/.test(than) && BigInt(version) <= BigInt(than)
}

function kindOf(entry: InventoryEntry): string {
  const { apiVersion, kind } = idOfEntry(entry)
  return `${kind}.${groupOf(apiVersion)}`
}

const QUIET_MS = 60_000
const FREE = 5
const LONGEST_MS = 60_000

/**
 * How long to wait before drift of a node is corrected again: not at all, unless it drifted many times within a minute.
 * Then another client wants something else, and the two must not overwrite each other at full speed.
 */
export class DriftPace {
  readonly #drifts = new Map<string, { count: number; at: number }>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  delayMs(key: string): number {
    const now = this.#now()
    for (const [other, { at }] of this.#drifts) if (now - at > QUIET_MS + LONGEST_MS) this.#drifts.delete(other)
    const count = (this.#drifts.get(key)?.count ?? 0) + 1
    this.#drifts.set(key, { count, at: now })
    return count <= FREE ? 0 : Math.min(1000 * 2 ** Math.min(count - FREE - 1, 20), LONGEST_MS)
  }
}

interface Correcting {
  readonly client: ClusterClient
  readonly memory: ClusterMemory
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * Applies an applied node again, between two runs, and shows what that changed as kustomize-controller does. Resolves
 * when it is applied; `shown` when its status is written. A suspended one stays suspected.
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
    // `flux suspend` since the last run: the next run shows it
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

/** Its health checks may take a moment, and nothing else waits for them. */
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
