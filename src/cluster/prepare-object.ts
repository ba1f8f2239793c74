import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ApiResource, ClusterClient } from './client.ts'
import { ClusterError } from './cluster-error.ts'
import { objectPath } from './discovery.ts'
import { driftOf } from './drift-of.ts'
import { explainRefusal } from './explain-refusal.ts'
import { failureScope } from './failure-scope.ts'
import { reowns } from './field-print.ts'
import { hasDrifted } from './has-drifted.ts'
import { entryOf, type InventoryEntry } from './inventory-entry.ts'
import { mapAt, stringAt } from './json-at.ts'
import { leaveIgnored } from './leave-ignored.ts'
import {
  ADOPT,
  carriesLabelsOf,
  foreignOwner,
  labelledOwner,
  ownershipOf,
  withOwner,
  withoutOwner,
} from './ownership.ts'
import type { Prepared } from './prepared.ts'
import { readLive } from './read-live.ts'
import { recreationOf } from './recreation-of.ts'
import { serverSideApply } from './server-side-apply.ts'
import { hasSwitch, skipReason } from './skip-reason.ts'
import { FIELD_MANAGER, GUEST_MANAGER, takeOverPatch } from './take-over-patch.ts'

interface Target {
  readonly object: Json
  readonly id: ObjectId
  readonly known: InventoryEntry | undefined
  /** See explainRefusal. */
  readonly isConfidential: boolean
}

/**
 * Asks the API server, as the user and without changing anything, what an apply of the object would do. Fields of others
 * are taken (force) only on an object that is this owner's or adopted; on one that others made, our fields are put beside
 * theirs without a label, so that it never becomes ours by a detour; another Kustomization's object is refused. Throws
 * what the API server says, see explainRefusal.
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
    // who may neither write nor read is told what they may not write
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
  // whose the object is cannot be ignored
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
    // kubectl would say `default`; a controller must not guess
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
  // a value that is no text goes to the API server as it is, which refuses it
  if (texts.length === 0 || texts.some(([, value]) => typeof value !== 'string')) return plain
  const encoded = texts.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')])
  return { ...secret, data: { ...mapAt(secret, 'data'), ...Object.fromEntries(encoded) } }
}
