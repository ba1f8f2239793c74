import { BailiwickError, type ErrorCode } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { display, groupOf, type ObjectId } from '../kube/object.ts'
import { type Applied, applyObject } from './apply-object.ts'
import { waves } from './apply-order.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ClusterClient } from './client.ts'
import { ClusterError, type Refusal } from './cluster-error.ts'
import { eachLimited } from './each-limited.ts'
import { failureScope } from './failure-scope.ts'
import { idOf } from './id-of.ts'
import { entryOf, type InventoryEntry } from './inventory-entry.ts'
import { stringAt } from './json-at.ts'
import { prepareObject } from './prepare-object.ts'
import type { Prepared } from './prepared.ts'
import { refuseOwnTarget } from './refuse-own-target.ts'
import { waitUntilReady } from './wait-until-ready.ts'

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

/** More is for nobody to read; a webhook may name any number. */
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

/** What became of one object. */
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

/** What became of all of them. */
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
