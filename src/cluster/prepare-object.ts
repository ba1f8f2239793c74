import { createHash } from 'node:crypto'
import { BailiwickError } from '../base/errors.ts'
import type { IgnoreRule } from '../flux/apply-settings.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import { type ApiResource, type ClusterClient, objectPath, readLive } from './client.ts'
import { ClusterError, failureScope } from './cluster-error.ts'
import { entryOf, type InventoryEntry } from './inventory.ts'
import { mapAt, stringAt } from './json.ts'
import { leaveIgnored } from './leave-ignored.ts'
import {
  ADOPT,
  carriesLabelsOf,
  explainRefusal,
  type FluxSwitch,
  foreignOwner,
  hasSwitch,
  labelledOwner,
  type Owner,
  type Ownership,
  ownershipOf,
  skipReason,
  withOwner,
  withoutOwner,
} from './ownership.ts'
import {
  driftOf,
  FIELD_MANAGER,
  GUEST_MANAGER,
  hasDrifted,
  type ObjectDrift,
  reowns,
  serverSideApply,
  takeOverPatch,
} from './server-side-apply.ts'

/** What to apply, for whom and as whom. */
export interface ApplyRequest {
  /** Who applies: impersonated, never empty. */
  readonly user: string
  readonly owner: Owner
  /** Plain JSON (see parseExact), in any order. */
  readonly objects: readonly Json[]
  /** Those of `objects` with values that no message may quote; Secrets are never quoted. */
  readonly confidential?: ReadonlySet<Json>
  /** Entries of the owner's inventory: their uid keeps an object ours whose labels were removed. */
  readonly known?: readonly InventoryEntry[]
  /** Take over whatever is there, as Flux does always. For the platform's own Kustomizations; never for a tenant's. */
  readonly adopt?: boolean
  /** Whether another Kustomization lets go of an object that has its labels: it is taken over. Absent: none does. */
  readonly isReleased?: (owner: Owner, entry: InventoryEntry) => boolean
  /** spec.force: delete and create again what cannot be changed in place. Only what is the owner's own. */
  readonly force?: boolean
  /** spec.ignore: fields that stay as the cluster has them. */
  readonly ignore?: readonly IgnoreRule[]
  /** Flux's switches on objects that count; absent: all of them. */
  readonly switches?: readonly FluxSwitch[]
  /** Called once, before the first write; what it throws ends the apply with nothing written. */
  readonly beforeWrite?: () => Promise<void>
  /** How long definitions and namespaces may take to be ready (60 s). */
  readonly stageWaitMs?: number
  readonly signal?: AbortSignal
}

/** What is to be sent for an object. */
export interface ObjectWrite {
  readonly path: string
  readonly body: Json
  readonly ownership: Ownership
  /** Of the live object; '' where there is none. */
  readonly uid: string
  readonly resourceVersion: string
  /** JSON patch that is sent first. */
  readonly takeOver?: Json | undefined
}

/** What an apply of an object would do, by its dry run. `uid` only where the object is this owner's. */
export type Prepared =
  | { readonly action: 'skipped'; readonly message: string }
  | { readonly action: 'unchanged'; readonly message?: string; readonly uid?: string }
  | {
      readonly action: 'created' | 'configured' | 'recreated'
      readonly message?: string
      readonly write: ObjectWrite
      readonly drift?: ObjectDrift
    }

interface Target {
  readonly object: Json
  readonly id: ObjectId
  readonly known: InventoryEntry | undefined
  /** See explainRefusal. */
  readonly isConfidential: boolean
}

/**
 * Asks the API server, as the user and without changing anything, what an apply of the object would do. Fields of
 * others are taken (force) only on an object that is this owner's or adopted; on one that others made, our fields are
 * put beside theirs without a label, so that it never becomes ours by a detour; another Kustomization's object is
 * refused. Throws the API server's refusal, see explainRefusal.
 */
export async function prepareObject(client: ClusterClient, request: ApplyRequest, target: Target): Promise<Prepared> {
  const { object, id, isConfidential } = target
  const desired = desiredObject(object)
  const skip = skipReason(desired, undefined, request.switches)
  if (skip) return { action: 'skipped', message: skip }
  try {
    return await prepare(client, request, target, desired)
  } catch (error) {
    throw explainRefusal(error, { id, owner: request.owner, attempted: 'dry-run', isConfidential })
  }
}

async function prepare(client: ClusterClient, request: ApplyRequest, target: Target, desired: Json): Promise<Prepared> {
  const { user, signal } = request
  const { id, known } = target
  let refusal: ClusterError | undefined
  if (!known) {
    const first = await creation(client, request, id, desired)
    if (first && 'action' in first) return first
    refusal = first
  }
  const find = () => findResource(client, id)
  const found = await readLive(client, { user }, id, { find, whole: true, signal }).catch(error => {
    // a user who may neither write nor read learns what they may not write
    throw refusal && error instanceof ClusterError && error.status === 403 ? refusal : error
  })
  if (!found) throw unknownKind(id)
  const { path, live } = found
  if (live !== undefined) return existing(client, request, target, { path, live, desired })
  const created = refusal ?? (await creation(client, request, id, desired))
  if (created && 'action' in created) return created
  throw created ?? changing(id)
}

/**
 * What is not known to exist is tried as a new object first: mostly it is one, and nothing has to be read. The refusal of
 * the API server, or undefined where the object is there.
 */
async function creation(
  client: ClusterClient,
  { user, owner, signal }: ApplyRequest,
  id: ObjectId,
  desired: Json,
): Promise<Prepared | ClusterError | undefined> {
  const resource = await findResource(client, id)
  if (!resource) throw unknownKind(id)
  const path = objectPath(resource, id.namespace, id.name)
  const body = withOwner(desired, owner)
  try {
    const dry = await serverSideApply(client, { user, path, body, force: false, dryRun: true, signal })
    if (stringAt(dry, 'metadata', 'resourceVersion') !== '') return undefined
  } catch (error) {
    if (error instanceof ClusterError && failureScope(error) === 'object') return error
    throw error
  }
  return { action: 'created', write: { path, body, ownership: 'absent', uid: '', resourceVersion: '' } }
}

interface Existing {
  readonly path: string
  readonly live: Json
  readonly desired: Json
}

async function existing(
  client: ClusterClient,
  request: ApplyRequest,
  { object, id, known }: Target,
  { path, live, desired }: Existing,
): Promise<Prepared> {
  const { user, owner, adopt = false, switches, signal } = request
  const skip = skipReason(desired, live, switches)
  if (skip) return { action: 'skipped', message: skip }
  if (id.kind === 'Namespace' && stringAt(live, 'metadata', 'deletionTimestamp') !== '') throw terminating(id)
  const uid = stringAt(live, 'metadata', 'uid')
  const found = adopt ? 'ours' : ownershipOf(live, owner, known?.uid)
  const isMoved = found === 'foreign' && request.isReleased?.(labelledOwner(live), { ...entryOf(id), uid }) === true
  if (found === 'foreign' && !isMoved) throw foreign(live, request, id)
  const ownership = isMoved ? 'ours' : found
  const body = withUid(ownership === 'shared' ? withoutOwner(desired) : withOwner(desired, owner), uid)
  const rights = { force: ownership === 'ours', guest: ownership === 'shared' }
  let dry: Json
  try {
    dry = await serverSideApply(client, { user, path, body, ...rights, dryRun: true, whole: true, signal })
  } catch (error) {
    const forced = request.force === true || [object, live].some(one => hasSwitch(one, 'force', 'enabled', switches))
    if (!forced || ownership !== 'ours') throw error
    return recreationOf(client, request, id, { path, live, desired: withOwner(desired, owner), error })
  }
  const merge = [desired, live].some(one => hasSwitch(one, 'ssa', 'Merge', switches))
  const takeOver = ownership === 'ours' ? takeOverPatch({ live, desired, merge }) : undefined
  const note = ownership === 'shared' ? BESIDE : isMoved ? `it is taken over from ${foreignOwner(live, owner)}` : ''
  const message = note === '' ? {} : { message: note }
  const left = leaveIgnored({
    rules: request.ignore ?? [],
    live,
    dry,
    body,
    manager: rights.guest ? GUEST_MANAGER : FIELD_MANAGER,
  })
  // a value that was changed and changed back has another manager: the next change of it would not be seen
  const isTaken = ownership === 'ours' && left.live === live && reowns(live, dry)
  // the owner of the object cannot be ignored
  const isStripped = ownership === 'ours' && !carriesLabelsOf(live, owner)
  const isOther = hasDrifted(left.live, left.dry) || isTaken || isStripped
  if (takeOver === undefined && !isOther && !hasRawNumbers(desired)) {
    return { action: 'unchanged', ...message, ...(ownership === 'ours' ? { uid } : {}) }
  }
  const resourceVersion = stringAt(live, 'metadata', 'resourceVersion')
  const write = {
    path,
    body: ownership === 'shared' ? withoutOwner(left.body) : withOwner(left.body, owner),
    ownership,
    uid,
    resourceVersion,
    takeOver,
  }
  return { action: 'configured', ...message, write, ...(known ? { drift: driftOf(left.live, left.dry) } : {}) }
}

const BESIDE = `it existed before: it is applied next to its other owners, and neither restored nor pruned unless it is annotated ${ADOPT}`

/** With its uid, what is applied is the object that was read; not another that has its name since then. */
function withUid(object: Json, uid: string): Json {
  return { ...mapAt(object), metadata: { ...mapAt(object, 'metadata'), uid } }
}

async function findResource(client: ClusterClient, id: ObjectId): Promise<ApiResource | undefined> {
  const resource = await client.discovery.find(id.apiVersion, id.kind)
  if (resource?.namespaced && id.namespace === '') {
    // kubectl would use `default`; a controller must not guess
    throw new BailiwickError('cluster-invalid', `${display(id)}: the namespace is missing`, {
      fix: 'Set metadata.namespace.',
    })
  }
  return resource
}

/** Integers beyond 2^53, which two answers of the API server cannot be compared by (see parseExact). */
function hasRawNumbers(object: Json): boolean {
  const rest: Json[] = [object]
  for (let one = rest.pop(); one !== undefined; one = rest.pop()) {
    if (typeof one !== 'object' || one === null) continue
    if (Object.getPrototypeOf(one) === null && Object.hasOwn(one, 'rawJSON')) return true
    for (const value of Object.values(one)) if (typeof value === 'object' && value !== null) rest.push(value)
  }
  return false
}

function unknownKind({ apiVersion, kind }: ObjectId): BailiwickError {
  return new BailiwickError('cluster-invalid', `the cluster has no kind ${kind} in ${apiVersion || 'no apiVersion'}`, {
    fix: 'Apply its CustomResourceDefinition first (dependsOn), or correct apiVersion and kind.',
  })
}

function changing(id: ObjectId): BailiwickError {
  return new BailiwickError('cluster-conflict', `${display(id)} is deleted and created by another client just now`)
}

function terminating(id: ObjectId): BailiwickError {
  return new BailiwickError('cluster-invalid', `${display(id)} is being deleted (phase Terminating)`, {
    fix: 'Wait until it is gone. What keeps it: `kubectl get namespace NAME -o yaml`, status.conditions.',
  })
}

function foreign(live: Json, { owner }: ApplyRequest, id: ObjectId): BailiwickError {
  return new BailiwickError('cluster-conflict', `${display(id)} belongs to ${foreignOwner(live, owner)}`, {
    fix: 'Remove it from one of the two. It moves once the other Kustomization is approved without it. If that Kustomization is gone, remove the owner labels on the cluster.',
  })
}

/**
 * What Flux changes before it applies (fluxcd/pkg ssa/normalize): no status, which is not desired state; and
 * `stringData` of a Secret as `data`, because the API server would not remove its keys again.
 */
function desiredObject(object: Json): Json {
  const { status: _status, ...rest } = mapAt(object)
  const { creationTimestamp: _created, ...metadata } = mapAt(rest, 'metadata')
  const plain = { ...rest, metadata }
  if (stringAt(object, 'kind') !== 'Secret' || stringAt(object, 'apiVersion') !== 'v1') return plain
  const { stringData, ...secret } = plain as { [key: string]: Json }
  const texts = Object.entries(mapAt(stringData))
  // a value that is not text goes to the API server as it is, which refuses it
  if (texts.length === 0 || texts.some(([, value]) => typeof value !== 'string')) return plain
  const encoded = texts.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')])
  return { ...secret, data: { ...mapAt(secret, 'data'), ...Object.fromEntries(encoded) } }
}

interface Refused {
  readonly path: string
  readonly live: Json
  /** With owner labels, without uid. */
  readonly desired: Json
  /** Of the dry run in place. */
  readonly error: unknown
}

/**
 * `force`: the object is to be deleted and created again, where what was refused is a change of an immutable field. Flux
 * takes any invalid object for that and deletes it first. Here both steps are tried without effect before: the deletion,
 * and the creation under a name of its own. Throws the refusal where one of them would fail.
 */
async function recreationOf(
  client: ClusterClient,
  { user, signal }: ApplyRequest,
  id: ObjectId,
  { path, live, desired, error }: Refused,
): Promise<Prepared> {
  if (!(error instanceof ClusterError) || !isImmutable(error)) throw error
  const uid = stringAt(live, 'metadata', 'uid')
  const probe = `bailiwick-${createHash('sha256').update(uid).digest('hex').slice(0, 16)}`
  const body = { ...mapAt(desired), metadata: { ...mapAt(desired, 'metadata'), name: probe } }
  const probePath = `${path.slice(0, path.lastIndexOf('/'))}/${probe}`
  const wouldFail = (second: unknown) => {
    throw second instanceof ClusterError && second.status !== 401 ? notRecreated(error, second) : second
  }
  await serverSideApply(client, { user, path: probePath, body, force: false, dryRun: true, signal }).catch(second => {
    if (!isHeldByItself(second)) wouldFail(second)
  })
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'], preconditions: { uid } }
  await client.request({ user }, 'DELETE', path, { body: options, signal }).catch(wouldFail)
  const resourceVersion = stringAt(live, 'metadata', 'resourceVersion')
  const message = `deleted and created again, as it has immutable fields: ${error.refusal.text}`
  return {
    action: 'recreated',
    // the message of a Secret may quote its value
    message: id.kind === 'Secret' ? 'deleted and created again, as it has immutable fields' : message,
    write: { path, body: desired, ownership: 'ours', uid, resourceVersion },
  }
}

/** As kubectl and Flux know it: an invalid change, or the words of an admission webhook or a CEL rule. */
function isImmutable({ refusal }: ClusterError): boolean {
  return refusal.status === 422 || /is\simmutable|immutable\sfield/.test(refusal.text)
}

/** An address, a port or a share of a quota, which the deletion sets free. */
function isHeldByItself(error: unknown): boolean {
  if (!(error instanceof ClusterError)) return false
  const { status, text, causes } = error.refusal
  if (status === 403) return text.includes('exceeded quota')
  return status === 422 && causes.length > 0 && causes.every(({ message }) => message.includes('already allocated'))
}

function notRecreated({ code, refusal }: ClusterError, second: ClusterError): ClusterError {
  const text = `${refusal.text}. It is not deleted for \`force\`, because creating it again would be refused too: ${second.refusal.text}`
  return new ClusterError(code, text, { ...refusal, text })
}
