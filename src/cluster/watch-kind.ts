import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import type { ApiResource, ClusterClient } from './client.ts'
import { ClusterError, clusterError } from './cluster-error.ts'
import { itemsAt, jsonAt, stringAt } from './json-at.ts'
import { OWNER_NAME } from './ownership.ts'

/** Metadata is enough to see drift, and so no value of a Secret comes into this process. */
const FORM = 'g=meta.k8s.io;v=v1'
const LISTS = `application/json;as=PartialObjectMetadataList;${FORM}`
const EVENTS = `application/json;as=PartialObjectMetadata;${FORM}`
const PAGE = '500'
const LASTS_SECONDS = 240
const SHORT_MS = 1000
const PAUSES_MS = [100, 1000, 2000, 5000, 10_000, 30_000]

interface KindWatcher {
  /** All that carry an owner label, at the start and whenever events may have been missed. */
  readonly listed: (objects: readonly Json[]) => void
  /** One that changed, came into being, or is gone (or lost its label). */
  readonly changed: (object: Json, gone: boolean) => void
  /** The server does not answer at the moment; it is tried again. */
  readonly interrupted: (error: BailiwickError) => void
}

/**
 * Follows the metadata of all objects of a kind that a Kustomization owns, as the worker: a list, then a watch from its
 * resourceVersion on with bookmarks, and a list again where the server has forgotten that version (410). Returns when it
 * is told to stop. Throws ClusterError 403 and 404: the worker may not, or there is no such kind.
 */
export async function watchKind(
  client: ClusterClient,
  resource: ApiResource,
  watcher: KindWatcher,
  signal: AbortSignal,
): Promise<void> {
  let version = ''
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (version === '') version = await list(client, resource, watcher, signal)
      const begun = Date.now()
      version = await watch(client, resource, version, watcher, signal)
      failures = 0
      // whoever ends it at once would be asked again and again
      if (Date.now() - begun < SHORT_MS) await sleep(SHORT_MS, undefined, { signal }).catch(() => {})
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof BailiwickError) || isFinal(error)) throw error
      // what happened meanwhile may be lost
      version = ''
      watcher.interrupted(error)
      const pause = PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)]!
      await sleep(pause, undefined, { signal }).catch(() => {})
    }
  }
}

const isFinal = (error: BailiwickError) => error instanceof ClusterError && [403, 404, 405].includes(error.status)

/** The resourceVersion from which on to watch. */
async function list(
  client: ClusterClient,
  resource: ApiResource,
  { listed }: KindWatcher,
  signal: AbortSignal,
): Promise<string> {
  const objects: Json[] = []
  for (let next = ''; ; ) {
    const { status, body } = await client.request('worker', 'GET', pathOf(resource), {
      query: { labelSelector: OWNER_NAME, limit: PAGE, ...(next ? { continue: next } : {}) },
      accept: LISTS,
      signal,
    })
    if (status === 404) throw clusterError(client.name, status, body)
    objects.push(...itemsAt(body, 'items'))
    next = stringAt(body, 'metadata', 'continue')
    if (next) continue
    listed(objects)
    return stringAt(body, 'metadata', 'resourceVersion')
  }
}

/** Until the server ends it: the last version that was seen, '' where it has forgotten that one. */
async function watch(
  client: ClusterClient,
  resource: ApiResource,
  from: string,
  { changed }: KindWatcher,
  signal: AbortSignal,
): Promise<string> {
  let version = from
  const query = {
    labelSelector: OWNER_NAME,
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: from,
    timeoutSeconds: String(LASTS_SECONDS),
  }
  await client.stream('worker', pathOf(resource), { query, accept: EVENTS, signal }, event => {
    const type = stringAt(event, 'type')
    const object = jsonAt(event, 'object') ?? null
    if (type === 'ERROR') version = ''
    if (type === 'ERROR' || version === '') return
    version = stringAt(object, 'metadata', 'resourceVersion') || version
    if (type !== 'BOOKMARK') changed(object, type === 'DELETED')
  })
  return version
}

function pathOf({ apiVersion, plural }: ApiResource): string {
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${plural}`
}
