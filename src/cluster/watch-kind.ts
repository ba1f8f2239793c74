import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import type { Actor, ApiResource, ClusterClient } from './client.ts'
import { ClusterError, clusterError } from './cluster-error.ts'
import { itemsAt, jsonAt, stringAt } from './json.ts'
import { OWNER_NAME } from './ownership.ts'

/** Metadata is enough to see drift, and so no value of a Secret comes into this process. */
const FORM = 'g=meta.k8s.io;v=v1'
const LISTS = `application/json;as=PartialObjectMetadataList;${FORM}`
const EVENTS = `application/json;as=PartialObjectMetadata;${FORM}`
const PAGE = '500'
const LASTS_SECONDS = 240
const SHORT_MS = 1000
const PAUSES_MS = [100, 1000, 2000, 5000, 10_000, 30_000]

/** Which objects of a kind are watched; by default all that carry an owner label. */
interface WatchedObjects {
  readonly labelSelector?: string | undefined
  readonly namespace?: string
  /** Whole objects, and at the start only those; absent: the metadata of all. */
  readonly whole?: (object: Json) => boolean
  /** As whom; absent: as the worker. */
  readonly actor?: Actor
}

interface KindWatcher {
  /** All that are watched, at the start and whenever events may have been missed. */
  readonly listed: (objects: readonly Json[]) => void
  /** One that changed, came into being, or is gone (or lost its label). */
  readonly changed: (object: Json, gone: boolean) => void
  /** The server does not answer at the moment; it is tried again. */
  readonly interrupted: (error: BailiwickError) => void
}

/**
 * Follows the metadata of all objects of a kind that a Kustomization owns (or see `which`), as the worker: a list, then
 * a watch from its resourceVersion on with bookmarks, and a list again where the server has forgotten that version
 * (410). Returns when it is aborted. Throws ClusterError 403 and 404: the worker may not, or the kind does not exist.
 */
export async function watchKind(
  client: ClusterClient,
  resource: ApiResource,
  watcher: KindWatcher,
  signal: AbortSignal,
  which: WatchedObjects = { labelSelector: OWNER_NAME },
): Promise<void> {
  let version = ''
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (version === '') version = await list(client, resource, watcher, signal, which)
      const begun = Date.now()
      version = await watch(client, resource, version, watcher, signal, which)
      failures = 0
      // a server that ends it at once would be asked again and again
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
  which: WatchedObjects,
): Promise<string> {
  const objects: Json[] = []
  for (let next = ''; ; ) {
    const { status, body } = await client.request(which.actor ?? 'worker', 'GET', pathOf(resource, which), {
      query: { ...selectorOf(which), limit: PAGE, ...(next ? { continue: next } : {}) },
      ...(which.whole ? {} : { accept: LISTS }),
      signal,
    })
    if (status === 404) throw clusterError(client.name, status, body)
    objects.push(...itemsAt(body, 'items').filter(object => which.whole?.(object) ?? true))
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
  which: WatchedObjects,
): Promise<string> {
  let version = from
  const query = {
    ...selectorOf(which),
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: from,
    timeoutSeconds: String(LASTS_SECONDS),
  }
  const options = which.whole ? { query, signal } : { query, accept: EVENTS, signal }
  await client.stream(which.actor ?? 'worker', pathOf(resource, which), options, event => {
    const type = stringAt(event, 'type')
    const object = jsonAt(event, 'object') ?? null
    if (type === 'ERROR') version = ''
    if (type === 'ERROR' || version === '') return
    version = stringAt(object, 'metadata', 'resourceVersion') || version
    if (type !== 'BOOKMARK') changed(object, type === 'DELETED')
  })
  return version
}

function selectorOf({ labelSelector }: WatchedObjects): Record<string, string> {
  return labelSelector === undefined ? {} : { labelSelector }
}

function pathOf({ apiVersion, plural }: ApiResource, { namespace }: WatchedObjects): string {
  const within = namespace === undefined ? '' : `namespaces/${encodeURIComponent(namespace)}/`
  return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${within}${plural}`
}
