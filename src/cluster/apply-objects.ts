import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError, type ErrorCode } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import { display, groupOf, type ObjectId } from '../kube/object.ts'
import { waves } from './apply-order.ts'
import { type ClusterClient, METADATA_ONLY, objectPath } from './client.ts'
import { ClusterError, failureScope, type Refusal } from './cluster-error.ts'
import { entryOf, type InventoryEntry } from './inventory.ts'
import { idOf, itemsAt, jsonAt, stringAt } from './json.ts'
import { explainRefusal } from './ownership.ts'
import { type ApplyRequest, type ObjectWrite, type Prepared, prepareObject } from './prepare-object.ts'
import { refuseOwnTarget } from './refused-targets.ts'
import { FIELD_MANAGER, type ObjectDrift, serverSideApply } from './server-side-apply.ts'
import { eachLimited } from './slots.ts'

const RBAC = 'rbac.authorization.k8s.io'

/**
 * The object of the same stage without which the API server refuses this one, so that a dry run of both at once fails:
 * the Role whose rules a RoleBinding gives away, the account of a bare Pod. Flux fails there for ever.
 */
function prerequisiteOf(object: Json): ObjectId | undefined {
  const kind = stringAt(object, 'kind')
  const group = groupOf(stringAt(object, 'apiVersion'))
  const namespace = stringAt(object, 'metadata', 'namespace')
  if (kind === 'RoleBinding' && group === RBAC && stringAt(object, 'roleRef', 'kind') === 'Role') {
    return { apiVersion: `${RBAC}/v1`, kind: 'Role', namespace, name: stringAt(object, 'roleRef', 'name') }
  }
  if (kind === 'Pod' && group === '') {
    const name = stringAt(object, 'spec', 'serviceAccountName')
    return name === '' ? undefined : { apiVersion: 'v1', kind: 'ServiceAccount', namespace, name }
  }
  return undefined
}

/** More warnings cannot be read; a webhook may send any number. */
const MOST = 10
const LONGEST = 300

/** The fields that a refusal is about, as the API server names them, each once. */
function namedFields({ causes }: Refusal): string[] {
  const fields = causes.map(({ field }) => field).filter(field => field !== '' && field.length <= LONGEST)
  return [...new Set(fields)].slice(0, MOST)
}

/** As many as the client has connections: nodes side by side share them. */
const AT_ONCE = 16
const STAGE_WAIT_MS = 60_000
const WITHHELD = 'not applied, because other objects of this Kustomization were refused'

/** The result for one object. */
interface ObjectResult {
  readonly id: ObjectId
  /** `withheld`: it would have been applied, but something else of the same owner was refused. */
  readonly action: Applied['action'] | 'withheld' | 'failed'
  /** Of the failure. */
  readonly code?: ErrorCode
  readonly message?: string
  /** Which fields it is about. */
  readonly fields?: readonly string[]
  /** What the inventory should hold for it; absent where it must not (its name cannot be recorded). */
  readonly entry?: InventoryEntry
  /** How the live object differed. */
  readonly drift?: Applied['drift']
}

/** The results of all of them. */
interface ApplyResult {
  /** In the order of applying. */
  readonly objects: readonly ObjectResult[]
  readonly failed: number
}

interface Item {
  readonly id: ObjectId
  readonly object: Json
  readonly entry: InventoryEntry | undefined
}

/** `deferred`: its dry run needs an object that is created just before it. */
type Plan = Prepared | { readonly action: 'deferred' }

/**
 * Server-side apply as the user, in Flux's stages: definitions, namespaces and cluster roles until they are ready, then
 * classes, then the rest by kind. Each stage is tried by a dry run first: where the API server refuses one object, nothing
 * of the stage and of later ones is applied. What the dry run shows unchanged is not sent. Throws where the failure is not
 * about an object (see failureScope): run it again, it is idempotent.
 */
export async function applyObjects(client: ClusterClient, request: ApplyRequest): Promise<ApplyResult> {
  const apply = new Apply(client, request)
  const items = request.objects.map(object => ({ object, id: idOf(object), entry: entryFor(idOf(object)) }))
  const sorted = waves(items)
  for (const stage of [1, 2, 3]) {
    const inStage = sorted.filter(wave => wave.stage === stage).map(wave => wave.items)
    await apply.stage(inStage)
    if (stage === 1) await apply.settle(inStage.flat())
  }
  const objects = sorted.flatMap(wave => wave.items).map(item => apply.resultOf(item))
  return { objects, failed: objects.filter(({ action }) => action === 'failed').length }
}

/** One apply under way. */
class Apply {
  readonly #client: ClusterClient
  readonly #request: ApplyRequest
  readonly #known: ReadonlyMap<string, InventoryEntry>
  readonly #results = new Map<Item, ObjectResult>()
  readonly #seen = new Set<string>()
  #writing: Promise<void> | undefined

  constructor(client: ClusterClient, request: ApplyRequest) {
    this.#client = client
    this.#request = request
    this.#known = new Map(request.known?.map(entry => [entry.id, entry]))
  }

  resultOf(item: Item): ObjectResult {
    return this.#results.get(item) ?? { id: item.id, action: 'withheld', message: WITHHELD, ...entryOfItem(item) }
  }

  #isConfidential(object: Json): boolean {
    return this.#request.confidential?.has(object) === true
  }

  get #refused(): boolean {
    return [...this.#results.values()].some(({ action }) => action === 'failed')
  }

  /** All of a stage, wave by wave; nothing of it where something would be refused. */
  async stage(inWaves: readonly (readonly Item[])[]): Promise<void> {
    if (this.#refused) return
    const plans = await this.#prepareAll(inWaves.flat())
    for (const [item, plan] of plans)
      if (plan.action === 'unchanged' || plan.action === 'skipped') this.#keep(item, plan)
    for (const wave of inWaves) {
      if (this.#refused) return
      const rest = wave.filter(item => !this.#results.has(item))
      await eachLimited(rest, AT_ONCE, item => this.#attempt(item, () => this.#write(item, plans.get(item)!)))
    }
  }

  /** What was applied in the first stage and does not become ready turns into a failure. */
  async settle(items: readonly Item[]): Promise<void> {
    if (this.#refused) return
    const deadline = Date.now() + (this.#request.stageWaitMs ?? STAGE_WAIT_MS)
    const applied = items.filter(item => this.#results.get(item)?.action !== 'skipped')
    await eachLimited(applied, AT_ONCE, async item => {
      const result = this.#results.get(item)
      await this.#attempt(item, async () => {
        await waitUntilReady(this.#client, this.#request, item.id, deadline)
        if (result) this.#results.set(item, result)
      })
    })
  }

  async #prepareAll(items: readonly Item[]): Promise<Map<Item, Plan>> {
    const plans = new Map<Item, Plan>()
    const refusals = new Map<Item, BailiwickError>()
    await eachLimited(items, AT_ONCE, async item => {
      try {
        plans.set(item, await this.#prepare(item))
      } catch (error) {
        if (!concernsObject(error)) throw error
        refusals.set(item, error)
      }
    })
    const created = new Set([...plans].filter(([, { action }]) => action === 'created').map(([{ id }]) => display(id)))
    for (const [item, error] of refusals) {
      const needed = prerequisiteOf(item.object)
      if (needed !== undefined && created.has(display(needed))) plans.set(item, { action: 'deferred' })
      else this.#fail(item, error)
    }
    return plans
  }

  async #prepare({ id, object, entry }: Item): Promise<Prepared> {
    if (id.name === '') throw new BailiwickError('cluster-invalid', `${id.kind || 'the object'} has no name`)
    const key = `${groupOf(id.apiVersion)} ${display(id)}`
    if (this.#seen.has(key)) throw new BailiwickError('cluster-invalid', `${display(id)} appears twice`)
    this.#seen.add(key)
    const known = this.#known.get((entry ?? entryOf(id)).id)
    await refuseOwnTarget(this.#client, { user: this.#request.user, id, object })
    return prepareObject(this.#client, this.#request, {
      object,
      id,
      known,
      isConfidential: this.#isConfidential(object),
    })
  }

  async #write(item: Item, plan: Plan): Promise<void> {
    this.#writing ??= this.#request.beforeWrite?.() ?? Promise.resolve()
    await this.#writing
    const { id, object, entry } = item
    const known = entry && this.#known.get(entry.id)
    const isConfidential = this.#isConfidential(object)
    const target = { object, id, known, isConfidential }
    const prepared = plan.action === 'deferred' ? await prepareObject(this.#client, this.#request, target) : plan
    this.#keep(item, await applyObject(this.#client, this.#request, { id, isConfidential }, prepared))
  }

  async #attempt(item: Item, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!concernsObject(error)) throw error
      this.#fail(item, error)
    }
  }

  #keep(item: Item, { uid, ...applied }: Applied): void {
    const entry = item.entry && (uid ? { ...item.entry, uid } : item.entry)
    this.#results.set(item, { id: item.id, ...applied, ...(entry ? { entry } : {}) })
  }

  #fail(item: Item, error: BailiwickError): void {
    const message = error.fix === undefined ? error.message : `${error.message}. ${error.fix}`
    const fields = error instanceof ClusterError ? namedFields(error.refusal) : []
    const named = fields.length === 0 ? {} : { fields }
    this.#results.set(item, {
      id: item.id,
      action: 'failed',
      code: error.code,
      message,
      ...named,
      ...entryOfItem(item),
    })
  }
}

function entryOfItem({ entry }: Item): { entry?: InventoryEntry } {
  return entry ? { entry } : {}
}

/** Undefined for a name that an inventory cannot hold: it is refused when its turn comes. */
function entryFor(id: ObjectId): InventoryEntry | undefined {
  try {
    return entryOf(id)
  } catch (error) {
    if (concernsObject(error)) return undefined
    throw error
  }
}

function concernsObject(error: unknown): error is BailiwickError {
  return error instanceof BailiwickError && failureScope(error) === 'object'
}

const GONE_MS = 60_000
const POLL_MS = 200

/** `uid` only where the object is this owner's. */
interface Applied {
  readonly action: 'created' | 'configured' | 'recreated' | 'unchanged' | 'skipped'
  readonly message?: string
  readonly uid?: string
  /** How it differed from what is applied. */
  readonly drift?: ObjectDrift
}

/** Sends the prepared object, as the user. Throws the API server's refusal, see explainRefusal. */
async function applyObject(
  client: ClusterClient,
  request: ApplyRequest,
  { id, isConfidential }: { readonly id: ObjectId; readonly isConfidential: boolean },
  prepared: Prepared,
): Promise<Applied> {
  if (!('write' in prepared)) return prepared
  const { write, ...planned } = prepared
  try {
    if (planned.action === 'recreated') await remove(client, request, id, write)
    if (write.takeOver !== undefined) await takeOver(client, request, write.path, write.takeOver)
    const { path, body, ownership } = write
    const rights = { force: ownership === 'ours', guest: ownership === 'shared' }
    const { user, signal } = request
    const applied = await serverSideApply(client, { user, path, body, ...rights, dryRun: false, signal })
    return outcome(planned, write, applied)
  } catch (error) {
    throw explainRefusal(error, { id, owner: request.owner, attempted: 'apply', isConfidential })
  }
}

function outcome(planned: Omit<Applied, 'uid'>, { ownership, resourceVersion }: ObjectWrite, applied: Json): Applied {
  const isSame = planned.action === 'configured' && stringAt(applied, 'metadata', 'resourceVersion') === resourceVersion
  const result = isSame ? { ...planned, action: 'unchanged' as const } : planned
  return ownership === 'shared' ? result : { ...result, uid: stringAt(applied, 'metadata', 'uid') }
}

async function takeOver(client: ClusterClient, request: ApplyRequest, path: string, body: Json): Promise<void> {
  await client.request({ user: request.user }, 'PATCH', path, {
    query: { fieldManager: FIELD_MANAGER },
    contentType: 'application/json-patch+json',
    accept: METADATA_ONLY,
    body,
    signal: request.signal,
  })
}

/** Deletes exactly what was read, and waits until it is gone. */
async function remove(
  client: ClusterClient,
  { user, signal, stageWaitMs = GONE_MS }: ApplyRequest,
  id: ObjectId,
  { path, uid }: ObjectWrite,
): Promise<void> {
  await client.request({ user }, 'DELETE', path, {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions: { uid } },
    signal,
  })
  for (const deadline = Date.now() + stageWaitMs; ; await sleep(POLL_MS)) {
    const { status, body } = await client.request({ user }, 'GET', path, { accept: METADATA_ONLY, signal })
    if (status === 404 || stringAt(body, 'metadata', 'uid') !== uid) return
    if (Date.now() > deadline) {
      throw new BailiwickError('cluster-invalid', `${display(id)} is deleted for \`force\`, but does not go away`, {
        fix: 'Look at its finalizers.',
      })
    }
  }
}

/**
 * Waits until others can build on the object: a CustomResourceDefinition is established and its kinds are served, a
 * Namespace is active; other kinds are ready at once. Throws `cluster-invalid` when that is not so at the deadline.
 */
async function waitUntilReady(
  client: ClusterClient,
  { user, signal }: Pick<ApplyRequest, 'user' | 'signal'>,
  id: ObjectId,
  deadline: number,
): Promise<void> {
  if (id.kind !== 'CustomResourceDefinition' && id.kind !== 'Namespace') return
  const resource = await client.discovery.find(id.apiVersion, id.kind)
  if (!resource) return
  const path = objectPath(resource, id.namespace, id.name)
  for (;;) {
    const { status, body } = await client.request({ user }, 'GET', path, { signal })
    const missing = status === 404 ? 'it was deleted meanwhile' : await whatIsMissing(client, id, body)
    if (missing === undefined) return
    if (Date.now() > deadline) {
      throw new BailiwickError('cluster-invalid', `${display(id)} is applied but does not become ready: ${missing}`)
    }
    await sleep(POLL_MS)
  }
}

async function whatIsMissing(client: ClusterClient, id: ObjectId, live: Json): Promise<string | undefined> {
  if (id.kind === 'Namespace') {
    const phase = stringAt(live, 'status', 'phase')
    return phase === 'Active' ? undefined : `phase ${phase || 'unknown'}`
  }
  const conditions = itemsAt(live, 'status', 'conditions')
  const established = conditions.find(condition => stringAt(condition, 'type') === 'Established')
  if (stringAt(established, 'status') !== 'True') {
    const refused = conditions.find(
      condition => stringAt(condition, 'type') === 'NamesAccepted' && stringAt(condition, 'status') === 'False',
    )
    return stringAt(refused, 'message') || 'not established'
  }
  const kind = stringAt(live, 'spec', 'names', 'kind')
  for (const version of itemsAt(live, 'spec', 'versions')) {
    const apiVersion = `${stringAt(live, 'spec', 'group')}/${stringAt(version, 'name')}`
    if (jsonAt(version, 'served') !== true) continue
    if (!(await client.discovery.find(apiVersion, kind))) return `${apiVersion} ${kind} is not served yet`
  }
  return undefined
}
