import { BailiwickError, type ErrorCode } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import { type Applied, applyObject } from './apply-object.ts'
import { waves } from './apply-order.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ClusterClient } from './client.ts'
import { failureScope } from './failure-scope.ts'
import { idOf } from './id-of.ts'
import { entryOf, type InventoryEntry } from './inventory-entry.ts'
import { ownTargetReason } from './own-target-reason.ts'
import { waitUntilReady } from './wait-until-ready.ts'

const AT_ONCE = 8
const STAGE_WAIT_MS = 60_000

/** What became of one object. */
interface ObjectResult {
  readonly id: ObjectId
  readonly action: 'created' | 'configured' | 'unchanged' | 'skipped' | 'failed'
  /** Of the failure. */
  readonly code?: ErrorCode
  readonly message?: string
  /** What the inventory should hold for it; absent where it must not (its name cannot be recorded). */
  readonly entry?: InventoryEntry
}

/** What became of all of them. */
interface ApplyResult {
  /** In the order of applying. */
  readonly objects: readonly ObjectResult[]
  readonly failed: number
}

interface Item {
  readonly id: ObjectId
  readonly object: Json
}

/**
 * Server-side apply as the user, in Flux's stages: definitions, namespaces and cluster roles until they are ready, then
 * classes, then the rest by kind. An object that the API server refuses is `failed` with its message, and the others
 * are applied. Throws `cluster-unavailable` where the cluster does not answer: run it again, it is idempotent.
 */
export async function applyObjects(client: ClusterClient, request: ApplyRequest): Promise<ApplyResult> {
  const known = new Map(request.known?.map(entry => [entry.id, entry]))
  const seen = new Set<string>()
  const results: ObjectResult[] = []
  const items = request.objects.map(object => ({ id: idOf(object), object }))
  const applyOne = (item: Item) =>
    attempt(client, request, item, entry => applyObject(client, request, item.object, item.id, known.get(entry.id)))

  let stage = 1
  let waitFor: Item[] = []
  for (const wave of waves(items)) {
    if (wave.stage !== stage) {
      await settle(client, request, waitFor, results)
      waitFor = []
      stage = wave.stage
    }
    const unique = wave.items.filter(item => {
      const key = `${item.id.apiVersion} ${display(item.id)}`
      if (!seen.has(key)) return seen.add(key)
      results.push(failure(item.id, new BailiwickError('cluster-invalid', `${display(item.id)} appears twice`)))
      return false
    })
    const done = await eachLimited(unique, AT_ONCE, applyOne)
    results.push(...done)
    if (wave.stage === 1) waitFor.push(...unique.filter((_, index) => done[index]!.action !== 'failed'))
  }
  await settle(client, request, waitFor, results)
  return { objects: results, failed: results.filter(result => result.action === 'failed').length }
}

async function attempt(
  client: ClusterClient,
  { user }: ApplyRequest,
  item: Item,
  work: (entry: InventoryEntry) => Promise<Applied>,
): Promise<ObjectResult> {
  let entry: InventoryEntry | undefined
  try {
    if (item.id.name === '') throw new BailiwickError('cluster-invalid', `${item.id.kind || 'the object'} has no name`)
    entry = entryOf(item.id)
    const own = await ownTargetReason(client, { user, id: item.id, object: item.object })
    if (own !== undefined) throw ownTarget(own)
    const { uid, ...applied } = await work(entry)
    return { id: item.id, ...applied, entry: uid ? { ...entry, uid } : entry }
  } catch (error) {
    if (!concernsObject(error)) throw error
    return { ...failure(item.id, error), ...(entry ? { entry } : {}) }
  }
}

/** What was applied in the first stage and does not become ready turns into a failure. */
async function settle(
  client: ClusterClient,
  request: ApplyRequest,
  items: Item[],
  results: ObjectResult[],
): Promise<void> {
  const deadline = Date.now() + (request.stageWaitMs ?? STAGE_WAIT_MS)
  await eachLimited(items, AT_ONCE, async item => {
    try {
      await waitUntilReady(client, request, item.id, deadline)
    } catch (error) {
      if (!concernsObject(error)) throw error
      const index = results.findIndex(result => result.id === item.id)
      results[index] = { ...results[index], ...failure(item.id, error) }
    }
  })
}

function failure(id: ObjectId, error: BailiwickError): ObjectResult {
  const message = error.fix === undefined ? error.message : `${error.message}. ${error.fix}`
  return { id, action: 'failed', code: error.code, message }
}

function ownTarget(reason: string): BailiwickError {
  return new BailiwickError('cluster-forbidden', `${reason}. Allowed: targets other than the worker itself`, {
    fix: "Remove it from the fleet, and apply the worker's own manifests with kubectl.",
  })
}

function concernsObject(error: unknown): error is BailiwickError {
  return error instanceof BailiwickError && failureScope(error) === 'object'
}

/**
 * Calls `work` for every item, at most `limit` at a time; results in the order of the items. After a failure nothing
 * more is started, what runs is waited for, and the first error is thrown.
 */
async function eachLimited<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const failures: unknown[] = []
  let next = 0
  const lane = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++
      try {
        results[index] = await work(items[index]!)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane))
  if (failures.length > 0) throw failures[0]
  return results
}
