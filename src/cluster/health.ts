import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../base/errors.ts'
import { CelProgram } from '../expr/cel-program.ts'
import type { ApplySettings, ReadyExpr } from '../flux/apply-settings.ts'
import { computeStatus } from '../flux/kstatus/compute-status.ts'
import { customStatus } from '../flux/kstatus/custom-status.ts'
import { failed, type ResourceStatus, unknown } from '../flux/kstatus/resource-status.ts'
import { apiVersionOf, KUSTOMIZATION, KUSTOMIZE_GROUP } from '../kube/flux-kinds.ts'
import type { Json } from '../kube/node.ts'
import { groupOf, type ObjectId } from '../kube/object.ts'
import { type ClusterClient, objectPath, readLive } from './client.ts'
import { idOf, itemsAt, jsonAt, mapAt, parseExact, stringAt } from './json.ts'
import { ownerSelector } from './ownership.ts'

/** An object that is not healthy, and why. */
interface UnhealthyObject extends ResourceStatus {
  readonly object: ObjectId
}

/** `reason` is Flux's text, followed by what kstatus reports of each object. */
export type Health =
  | { readonly state: 'healthy'; readonly checked: number }
  | { readonly state: 'failed' | 'timeout'; readonly reason: string; readonly objects: readonly UnhealthyObject[] }

/** Soon at first, for what is ready at once; then as often as Flux. */
const PAUSES_MS = [250, 500, 1_000, 2_000, 5_000] as const
/** A condition of Kubernetes holds 32 KiB. */
const MAX_LISTED = 50

interface Clock {
  readonly now: () => number
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>
}

const REAL_CLOCK: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal, ref: false }) }

/**
 * Waits until everything that the Kustomization wants to be healthy is, one of it has failed, or its timeout has passed.
 * Reads as its account; what cannot be read is not healthy. Only rejects for `signal`, with its reason, and for bugs.
 */
export async function waitHealthy(
  client: ClusterClient,
  node: HealthNode,
  applied: readonly ObjectId[],
  signal: AbortSignal,
  clock: Clock = REAL_CLOCK,
): Promise<Health> {
  const targets = healthTargets(node, applied)
  const round = new Round(client, node, signal, clock)
  const deadline = clock.now() + node.settings.timeoutMs
  let waiting = targets
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted()
    let unhealthy = await round.unhealthy(waiting)
    // what was healthy a while ago need not be now
    if (unhealthy.length === 0 && attempt > 0) unhealthy = await round.unhealthy(targets)
    if (unhealthy.length === 0) return { state: 'healthy', checked: targets.length }
    const gone = unhealthy.filter(({ status }) => status === 'Failed')
    if (gone.length > 0) return answer('failed', gone)
    const left = deadline - clock.now()
    if (left <= 0) return answer('timeout', unhealthy)
    waiting = unhealthy.map(({ object }) => object)
    await pause(clock, Math.min(left, PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)]!), signal)
  }
}

/** One look at objects after the other, with what is known of the node. */
class Round {
  readonly #client: ClusterClient
  readonly #node: HealthNode
  readonly #signal: AbortSignal
  readonly #clock: Clock
  readonly #finished: ReadonlySet<string>
  readonly #custom: ReturnType<typeof customStatus>

  constructor(client: ClusterClient, node: HealthNode, signal: AbortSignal, clock: Clock) {
    this.#client = client
    this.#node = node
    this.#signal = signal
    this.#clock = clock
    this.#finished = jobsWithTtl(node)
    this.#custom = customStatus(node.settings.healthCheckExprs)
  }

  async unhealthy(ids: readonly ObjectId[]): Promise<UnhealthyObject[]> {
    const request = {
      ...{ client: this.#client, node: this.#node, signal: this.#signal },
      isOwned: this.#node.settings.wait,
      isWhole: (id: ObjectId) => this.#custom.decides(id),
    }
    const readings = await readObjects(request, ids)
    const found: UnhealthyObject[] = []
    for (const id of ids) {
      const status = await this.#status(id, readings.get(targetKey(id)))
      if (status.status !== 'Current') found.push({ object: id, ...status })
    }
    return found
  }

  async #status(id: ObjectId, reading: Reading | undefined): Promise<ResourceStatus> {
    if (!reading) throw new BailiwickError('internal', `${targetKey(id)} was not read`)
    if ('error' in reading) return unknown(reading.error)
    const { object } = reading
    if (object === undefined) {
      const isDone = this.#finished.has(targetKey(id))
      return { status: isDone ? 'Current' : 'NotFound', message: 'Resource not found' }
    }
    const now = this.#clock.now()
    const status = this.#custom.status(object, now)
    if (status.status !== 'InProgress' || this.#custom.decides(id)) return status
    const pods = await failedPods(this.#client, this.#node.user, id, object, { now, signal: this.#signal })
    return pods ?? status
  }
}

function answer(state: 'failed' | 'timeout', objects: readonly UnhealthyObject[]): Health {
  const begin = state === 'failed' ? 'failed early due to stalled resources' : 'timeout waiting for'
  const listed = objects.slice(0, MAX_LISTED).map(describe)
  if (objects.length > MAX_LISTED) listed.push(`and ${objects.length - MAX_LISTED} more`)
  return { state, reason: `${begin}: [${listed.join(', ')}]`, objects: objects.slice(0, MAX_LISTED) }
}

/** `Deployment/apps/web status: 'InProgress': Available: 0/1`. */
function describe({ object, status, message }: UnhealthyObject): string {
  const { kind, namespace, name } = object
  const place = [kind, ...(namespace ? [namespace] : []), name].join('/')
  return `${place} status: '${status}'${message === '' ? '' : `: ${message}`}`
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** A node whose health is waited for. */
export interface HealthNode {
  readonly namespace: string
  readonly name: string
  /** As whom its objects are read. */
  readonly user: string
  readonly settings: ApplySettings
  /** JSON text of each of its objects. */
  readonly objects: readonly string[]
}

/**
 * The objects that must become healthy: with `wait` those that were applied, else those that `healthChecks` names, never
 * the Kustomization itself. None: there is nothing to wait for.
 */
export function healthTargets(node: HealthNode, applied: readonly ObjectId[]): ObjectId[] {
  const { wait, healthChecks } = node.settings
  const targets = new Map<string, ObjectId>()
  for (const id of wait ? applied : healthChecks) if (!isItself(node, id)) targets.set(targetKey(id), id)
  return [...targets.values()]
}

/** Versions of a group are views of one object. */
function targetKey({ apiVersion, kind, namespace, name }: ObjectId): string {
  return `${groupOf(apiVersion)}/${kind}/${namespace}/${name}`
}

/** The controller compares no group. */
function isItself(node: HealthNode, { apiVersion, kind, namespace, name }: ObjectId): boolean {
  if (kind !== 'Kustomization' || groupOf(apiVersion) !== KUSTOMIZE_GROUP) return false
  return name === node.name && namespace === node.namespace
}

/** Jobs that the cluster deletes once they have finished: where one is gone, it has finished. */
function jobsWithTtl(node: HealthNode): ReadonlySet<string> {
  const jobs = new Set<string>()
  for (const text of node.objects) {
    // most objects are none, and need not be parsed
    if (!text.includes('"ttlSecondsAfterFinished"')) continue
    const object = parseExact(text)
    const id = idOf(object)
    const isJob = id.kind === 'Job' && groupOf(id.apiVersion) === 'batch'
    if (isJob && Number.isInteger(jsonAt(object, 'spec', 'ttlSecondsAfterFinished'))) jobs.add(targetKey(id))
  }
  return jobs
}

/** What reading an object gave: undefined where the cluster has none of that name; why not, where it could not be read. */
type Reading = { readonly object: Json | undefined } | { readonly error: string }

/** Kinds whose content does not show health, and must not come into this process. */
const METADATA_ONLY = new Set(['v1 ConfigMap', 'v1 Secret'])
const METADATA = 'meta.k8s.io;v=v1,application/json'
const PAGE = '500'
/** Fewer are read one by one: an account may be allowed to read what it must not list. */
const MIN_LIST = 3
const AT_ONCE = 4

interface ReadRequest {
  readonly client: ClusterClient
  readonly node: HealthNode
  readonly signal: AbortSignal
  /** What a node applied carries its labels, so that a list finds it. */
  readonly isOwned: boolean
  /** Kinds that must be read whole. */
  readonly isWhole: (id: ObjectId) => boolean
}

/**
 * Reads objects as the account of the node, with as few requests as possible: one list for each kind and namespace of
 * objects that carry the node's labels, and single reads for the rest. What cannot be read is part of the answer.
 */
async function readObjects(request: ReadRequest, ids: readonly ObjectId[]): Promise<Map<string, Reading>> {
  const found = new Map<string, Reading>()
  const alone: ObjectId[] = []
  const lists: ObjectId[][] = []
  for (const group of Map.groupBy(
    ids,
    ({ apiVersion, kind, namespace }) => `${apiVersion} ${kind} ${namespace}`,
  ).values()) {
    if (request.isOwned && group.length >= MIN_LIST) lists.push(group)
    else alone.push(...group)
  }
  await eachLimited(lists, async group => {
    const listed = await listOwned(request, group[0]!)
    for (const id of group) {
      const object = listed?.get(id.name)
      if (object) found.set(targetKey(id), { object })
      else alone.push(id)
    }
  })
  await eachLimited(alone, async id => {
    found.set(targetKey(id), await readOne(request, id))
  })
  return found
}

/** Undefined where the account may not list, or the list cannot be had now. */
async function listOwned(request: ReadRequest, like: ObjectId): Promise<Map<string, Json> | undefined> {
  const { client, node, signal } = request
  try {
    const resource = await client.discovery.findAnyVersion(like.apiVersion, like.kind)
    if (!resource) return undefined
    const path = objectPath(resource, like.namespace, 'x').replace(/\/x$/, '')
    const objects = new Map<string, Json>()
    let next = ''
    do {
      const query = { labelSelector: ownerSelector(node), limit: PAGE, ...(next ? { continue: next } : {}) }
      const options = { query, accept: accept(request, like, 'PartialObjectMetadataList'), signal }
      const { status, body } = await client.request({ user: node.user }, 'GET', path, options)
      if (status !== 200) return undefined
      for (const item of itemsAt(body, 'items')) objects.set(stringAt(item, 'metadata', 'name'), named(item, like))
      next = stringAt(body, 'metadata', 'continue')
    } while (next)
    return objects
  } catch (error) {
    if (signal.aborted || !(error instanceof BailiwickError)) throw error
    return undefined
  }
}

async function readOne(request: ReadRequest, id: ObjectId): Promise<Reading> {
  const { client, node, signal } = request
  try {
    const resource = await client.discovery.findAnyVersion(id.apiVersion, id.kind)
    if (!resource) return { error: `the cluster has no kind ${id.kind} in ${id.apiVersion}` }
    const path = objectPath(resource, id.namespace, id.name)
    const options = { accept: accept(request, id, 'PartialObjectMetadata'), signal }
    const { status, body } = await client.request({ user: node.user }, 'GET', path, options)
    if (status !== 404) return { object: named(body, id) }
    if (stringAt(body, 'details', 'name') === id.name) return { object: undefined }
    return { error: `${id.apiVersion} ${id.kind} is not served` }
  } catch (error) {
    if (signal.aborted || !(error instanceof BailiwickError)) throw error
    return { error: error.message }
  }
}

function accept({ isWhole }: ReadRequest, id: ObjectId, as: string): string {
  const isMetadata = METADATA_ONLY.has(`${id.apiVersion} ${id.kind}`) && !isWhole(id)
  return isMetadata ? `application/json;as=${as};g=${METADATA}` : 'application/json'
}

/** Items of a list, and metadata, lack their kind. */
function named(object: Json, { apiVersion, kind }: ObjectId): Json {
  return { ...mapAt(object), apiVersion, kind }
}

async function eachLimited<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    while (next < items.length) await work(items[next++]!)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, lane))
}

const POD_PAGE = '200'

/**
 * Whether pods of a StatefulSet or ReplicaSet in progress have failed for good, so that waiting for them is useless
 * (fluxcd/cli-utils polling/statusreaders). Undefined: none is known to, or the account may not list them.
 */
async function failedPods(
  client: ClusterClient,
  user: string,
  id: ObjectId,
  object: Json,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<ResourceStatus | undefined> {
  if (groupOf(id.apiVersion) !== 'apps' || (id.kind !== 'StatefulSet' && id.kind !== 'ReplicaSet')) return undefined
  const labelSelector = selectorText(object)
  if (labelSelector === '' || id.namespace === '') return undefined
  const path = `/api/v1/namespaces/${encodeURIComponent(id.namespace)}/pods`
  try {
    const query = { labelSelector, limit: POD_PAGE }
    const { body } = await client.request({ user }, 'GET', path, { query, signal })
    const gone = itemsAt(body, 'items').filter(pod => hasFailed(pod, now))
    return gone.length === 0 ? undefined : failed('PodsFailed', `${gone.length} pods have failed`)
  } catch (error) {
    if (signal.aborted || !(error instanceof BailiwickError)) throw error
    return undefined
  }
}

/** A pod that is deleted, or that an autoscaler may still find a place for, has not failed for good. */
function hasFailed(item: Json, now: number): boolean {
  const pod = { ...mapAt(item), apiVersion: 'v1', kind: 'Pod' }
  if (stringAt(pod, 'metadata', 'deletionTimestamp') !== '') return false
  const isWaiting = itemsAt(pod, 'status', 'conditions').some(
    condition =>
      stringAt(condition, 'type') === 'PodScheduled' &&
      stringAt(condition, 'status') === 'False' &&
      stringAt(condition, 'reason') === 'Unschedulable',
  )
  return !isWaiting && computeStatus(pod, now).status === 'Failed'
}

/** `spec.selector` as a query has it. */
function selectorText(object: Json): string {
  const labels = Object.entries(mapAt(object, 'spec', 'selector', 'matchLabels')).map(
    ([key, value]) => `${key}=${value}`,
  )
  const expressions = itemsAt(object, 'spec', 'selector', 'matchExpressions').map(one => {
    const key = stringAt(one, 'key')
    const values = itemsAt(one, 'values').join(',')
    const operator = stringAt(one, 'operator')
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values})`
  })
  return [...labels, ...expressions].join(',')
}

/**
 * Whether a dependency is ready by its `readyExpr`, asked of the two live Kustomizations as kustomize-controller asks it:
 * `self` and `dep`. Undefined: it is; else why not, in the controller's words.
 */
export async function readyByExpression(
  client: ClusterClient,
  self: { readonly namespace: string; readonly name: string },
  { dependency, expression }: ReadyExpr,
  signal: AbortSignal,
): Promise<string | undefined> {
  const program = CelProgram.compile(expression, ['self', 'dep'])
  if ('problem' in program) return `readyExpr of dependency '${dependency}': ${program.problem}`
  const slash = dependency.indexOf('/')
  const dep = { namespace: dependency.slice(0, slash), name: dependency.slice(slash + 1) }
  const [own, other] = await Promise.all([self, dep].map(one => readKustomization(client, one, signal)))
  if (other === undefined) return `dependency '${dependency}' not found`
  if (own === undefined) return `the cluster has no Kustomization ${self.namespace}/${self.name}`
  const answer = program.test({ self: own, dep: other })
  if ('error' in answer) return `readyExpr of dependency '${dependency}': ${answer.error}`
  return answer.value ? undefined : `dependency '${dependency}' is not ready according to readyExpr eval`
}

/** As the controller's own type has it: `force` is left out where it is false, and there is always a status. */
async function readKustomization(
  client: ClusterClient,
  at: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<Json | undefined> {
  const id = { apiVersion: apiVersionOf(KUSTOMIZATION), kind: 'Kustomization', ...at }
  const live = (await readLive(client, 'worker', id, { whole: true, signal }))?.live
  if (live === undefined) return undefined
  const { force, ...spec } = mapAt(live, 'spec')
  return { ...mapAt(live), spec: force === true ? { ...spec, force } : spec, status: { ...mapAt(live, 'status') } }
}
