import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ApiResource, ClusterClient } from './client.ts'
import { ClusterError, clusterError } from './cluster-error.ts'
import type { InventoryEntry } from './inventory-entry.ts'
import { mapAt, stringAt } from './json-at.ts'
import { ADOPT, foreignOwner, type Ownership, ownershipOf, withOwner, withoutOwner } from './ownership.ts'
import { readLive } from './read-live.ts'
import { skipReason } from './skip-reason.ts'
import { FIELD_MANAGER, takeOverFields } from './take-over-fields.ts'

/** `uid` only where the object is this owner's. */
export interface Applied {
  readonly action: 'created' | 'configured' | 'unchanged' | 'skipped'
  readonly message?: string
  readonly uid?: string
}

/**
 * One object, as the user. Fields of others are taken (force) only on an object that is this owner's or adopted; on
 * one that others made, our fields are put beside theirs without a label, so that it never becomes ours by a detour;
 * another Kustomization's object is refused. Throws what the API server says, see clusterError.
 */
export async function applyObject(
  client: ClusterClient,
  request: ApplyRequest,
  object: Json,
  id: ObjectId,
  known: InventoryEntry | undefined,
): Promise<Applied> {
  const { user, owner, adopt = false, signal } = request
  const found = await readLive(client, { user }, id, () => findResource(client, id), signal)
  if (!found) throw unknownKind(id)
  const { path, live } = found
  const skip = skipReason(object, live)
  if (skip) return { action: 'skipped', message: skip }
  const ownership = live !== undefined && adopt ? 'ours' : ownershipOf(live, owner, known?.uid)
  if (live !== undefined && ownership === 'foreign') throw foreign(live, request, id)
  if (live !== undefined && ownership === 'ours') await takeOverFields(client, request, path, live, id.apiVersion)

  const plain = withUid(normaliseObject(object), live)
  const response = await client
    .request({ user }, 'PATCH', path, {
      query: { fieldManager: FIELD_MANAGER, force: String(ownership === 'ours') },
      contentType: 'application/apply-patch+yaml',
      body: ownership === 'shared' ? withoutOwner(plain) : withOwner(plain, owner),
      signal,
    })
    .catch(error => {
      throw explained(error, id, request)
    })
  if (response.status === 404) throw explained(clusterError(client.name, 404, response.body), id, request)
  return outcome(live, response.body, ownership)
}

/** With its uid, what is applied is the object that was read; not another that has its name since then. */
function withUid(object: Json, live: Json | undefined): Json {
  if (live === undefined) return object
  return { ...mapAt(object), metadata: { ...mapAt(object, 'metadata'), uid: stringAt(live, 'metadata', 'uid') } }
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

function unknownKind({ apiVersion, kind }: ObjectId): BailiwickError {
  return new BailiwickError('cluster-invalid', `the cluster has no kind ${kind} in ${apiVersion || 'no apiVersion'}`, {
    fix: 'Apply its CustomResourceDefinition first (dependsOn), or correct apiVersion and kind.',
  })
}

function outcome(live: Json | undefined, applied: Json, ownership: Ownership): Applied {
  const version = (object: Json) => stringAt(object, 'metadata', 'resourceVersion')
  const action = live === undefined ? 'created' : version(live) === version(applied) ? 'unchanged' : 'configured'
  if (ownership !== 'shared') return { action, uid: stringAt(applied, 'metadata', 'uid') }
  const message = `it existed before: it is applied next to its other owners, and neither restored nor pruned unless it is annotated ${ADOPT}`
  return { action, message }
}

function foreign(live: Json, { owner }: ApplyRequest, id: ObjectId): BailiwickError {
  return new BailiwickError('cluster-conflict', `${display(id)} belongs to ${foreignOwner(live, owner)}`, {
    fix: 'Remove it from one of the two. To move it, first remove its owner labels on the cluster.',
  })
}

function explained(error: unknown, id: ObjectId, { owner }: ApplyRequest): unknown {
  if (!(error instanceof ClusterError)) return error
  if (id.kind === 'Secret' && ![401, 403, 404, 409].includes(error.status)) {
    const fields = error.causes.map(cause => cause.field).filter(Boolean)
    const message = `the API server refuses ${display(id)} (status ${error.status}${fields.length > 0 ? `, ${fields.join(', ')}` : ''})`
    return new ClusterError(error.code, message, error.status, [], {
      fix: 'The message is omitted because it may quote the value. Check the types of the fields.',
    })
  }
  const conflicts = error.causes.filter(cause => cause.reason === 'FieldManagerConflict')
  if (conflicts.length === 0) return error
  const fields = conflicts.map(({ field, message }) => `${field} (${message})`).join(', ')
  return new ClusterError(
    error.code,
    `${display(id)} is not managed by Bailiwick, and other managers own ${fields}`,
    error.status,
    error.causes,
    {
      fix: `Leave these fields out, or let a person with access to the cluster annotate the object ${ADOPT}: ${owner.namespace}/${owner.name}.`,
    },
  )
}

/**
 * What Flux changes before it applies (fluxcd/pkg ssa/normalize): no status, which is not desired state; and
 * `stringData` of a Secret as `data`, because the API server would not remove its keys again.
 */
function normaliseObject(object: Json): Json {
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
