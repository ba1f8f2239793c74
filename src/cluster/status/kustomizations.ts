import { BailiwickError } from '../../base/errors.ts'
import { KUSTOMIZE_GROUP } from '../../kube/flux-kinds.ts'
import type { Json } from '../../kube/node.ts'
import type { ClusterClient } from '../client.ts'
import { ClusterError } from '../cluster-error.ts'
import { itemsAt, jsonAt, mapAt, stringAt } from '../json.ts'
import {
  FINALIZER,
  hasFinalizer,
  isSuspended,
  isTerminating,
  keyOf,
  nextStatus,
  type ReconcileAttempt,
} from './kustomization-status.ts'

const API_VERSION = `${KUSTOMIZE_GROUP}/v1`
const PAGE = '250'
const MERGE_PATCH = 'application/merge-patch+json'
/** As kustomize-controller, whose status it takes over. */
const STATUS_MANAGER = 'gotk-kustomize-controller'
const ATTEMPTS = 4

/** Live Flux Kustomizations by `<namespace>/<name>`, read as the worker; undefined where the cluster does not know the kind. */
export async function readKustomizations(client: ClusterClient): Promise<Map<string, Json> | undefined> {
  const found = new Map<string, Json>()
  let next = ''
  do {
    const query = next ? { limit: PAGE, continue: next } : { limit: PAGE }
    const body = await readServed(client, api => ({ path: `${api}/kustomizations`, query }))
    if (body === undefined) return undefined
    for (const item of itemsAt(body, 'items')) found.set(keyOf(item), withoutManagers(item))
    next = stringAt(body, 'metadata', 'continue')
  } while (next)
  return found
}

/** One of them as it is now; undefined where there is none. */
export async function readKustomization(
  client: ClusterClient,
  namespace: string,
  name: string,
): Promise<Json | undefined> {
  const body = await readServed(client, api => ({ path: pathOf(api, namespace, name) }))
  return body === undefined || isMissing(body, name) ? undefined : withoutManagers(body)
}

/**
 * What the API server has at a path under `/apis/<group>/<version>` of the kind: in v1, or in what an older Flux
 * serves. Undefined where it serves none. Throws `cluster-unavailable` for the 404 of something else: not to know
 * whether a Kustomization is suspended is not the same as to know that it is not.
 */
async function readServed(
  client: ClusterClient,
  at: (api: string) => { readonly path: string; readonly query?: Readonly<Record<string, string>> },
): Promise<Json | undefined> {
  const ask = async (apiVersion: string) => {
    const { path, ...options } = at(`/apis/${apiVersion}`)
    const { status, body } = await client.request('worker', 'GET', path, options)
    return status === 404 && stringAt(body, 'details', 'name') === '' ? undefined : body
  }
  const first = await ask(API_VERSION)
  if (first !== undefined) return first
  client.discovery.forget()
  const resource = await client.discovery.findAnyVersion(API_VERSION, 'Kustomization')
  if (!resource) return undefined
  const other = await ask(resource.apiVersion)
  if (other !== undefined) return other
  const message = `cluster ${client.name} lists ${resource.apiVersion} Kustomization and does not serve it`
  throw new BailiwickError('cluster-unavailable', message)
}

/** The answer is the API server's Status about this name. */
const isMissing = (body: Json, name: string): boolean =>
  stringAt(body, 'kind') === 'Status' && stringAt(body, 'details', 'name') === name

function pathOf(api: string, namespace: string, name: string): string {
  return `${api}/namespaces/${encodeURIComponent(namespace)}/kustomizations/${encodeURIComponent(name)}`
}

/**
 * Writes the attempt into the status of the live Kustomization, as the worker; nothing where the status is the same
 * already. Returns the object as it is now; undefined where it is gone. Throws the API server's errors.
 */
export async function writeStatus(
  client: ClusterClient,
  live: Json,
  attempt: ReconcileAttempt,
  now: () => Date = () => new Date(),
): Promise<Json | undefined> {
  return change(client, live, '/status', current => {
    const status = nextStatus(current, attempt, now())
    return status === undefined ? undefined : { status: difference(mapAt(current, 'status'), mapAt(status)) }
  })
}

/** Owns the deletion of the Kustomization, or lets it go; nothing where that is so already. As writeStatus. */
export async function writeFinalizer(client: ClusterClient, live: Json, isOwned: boolean): Promise<Json | undefined> {
  return change(client, live, '', current => {
    if (hasFinalizer(current) === isOwned || (isOwned && isTerminating(current))) return undefined
    const others = itemsAt(current, 'metadata', 'finalizers').filter(name => name !== FINALIZER)
    return { metadata: { finalizers: isOwned ? [...others, FINALIZER] : others } }
  })
}

/** A merge patch of the object as it was read; reads it again where another client wrote in between. */
async function change(
  client: ClusterClient,
  live: Json,
  subresource: '' | '/status',
  patchOf: (current: Json) => { readonly [field: string]: Json } | undefined,
): Promise<Json | undefined> {
  const name = stringAt(live, 'metadata', 'name')
  const api = `/apis/${stringAt(live, 'apiVersion') || API_VERSION}`
  const path = pathOf(api, stringAt(live, 'metadata', 'namespace'), name)
  let current: Json = live
  for (let attempt = 1; ; attempt++) {
    const patch = patchOf(current)
    if (patch === undefined) return current
    const { uid, resourceVersion } = mapAt(current, 'metadata')
    const body: Json = {
      ...patch,
      metadata: { ...mapAt(patch, 'metadata'), uid: uid!, resourceVersion: resourceVersion! },
    }
    try {
      const query = { fieldManager: STATUS_MANAGER }
      const answer = await client.request('worker', 'PATCH', `${path}${subresource}`, {
        query,
        body,
        contentType: MERGE_PATCH,
      })
      return answer.status === 404 ? undefined : withoutManagers(answer.body)
    } catch (error) {
      if (!(error instanceof ClusterError) || error.status !== 409 || attempt === ATTEMPTS) throw error
      const again = await client.request('worker', 'GET', path)
      // another object has its name now: nothing is known about that one
      if (again.status === 404 || jsonAt(again.body, 'metadata', 'uid') !== uid) return undefined
      current = withoutManagers(again.body)
    }
  }
}

/** Fields that changed, and null for those that are gone: a merge patch. */
function difference(before: Readonly<Record<string, Json>>, after: Readonly<Record<string, Json>>): Json {
  const changed: { [field: string]: Json } = {}
  for (const [field, value] of Object.entries(after)) {
    if (JSON.stringify(before[field]) !== JSON.stringify(value)) changed[field] = value
  }
  for (const field of Object.keys(before)) if (!Object.hasOwn(after, field)) changed[field] = null
  return changed
}

/** Managers are half of an object; who suspended it is all that is asked of them here. */
function withoutManagers(live: Json): Json {
  const { managedFields: _, ...metadata } = mapAt(live, 'metadata')
  if (!isSuspended(live)) return { ...mapAt(live), metadata }
  const entries = itemsAt(live, 'metadata', 'managedFields')
  const managedFields = entries.filter(entry => jsonAt(entry, 'fieldsV1', 'f:spec', 'f:suspend') !== undefined)
  return { ...mapAt(live), metadata: { ...metadata, managedFields } }
}
