import { BailiwickError } from '../../errors.ts'
import type { Json } from '../../kube/node.ts'
import type { ObjectId } from '../../kube/object.ts'
import type { ClusterClient } from '../client.ts'
import { objectPath } from '../discovery.ts'
import { itemsAt, mapAt, stringAt } from '../json-at.ts'
import { ownerSelector } from '../ownership.ts'
import { type HealthNode, targetKey } from './health-targets.ts'

/** What reading an object gave: undefined where the cluster has none of that name; why not, where it could not be read. */
export type Reading = { readonly object: Json | undefined } | { readonly error: string }

/** Kinds whose content says nothing about health, and must not come into this process. */
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
export async function readObjects(request: ReadRequest, ids: readonly ObjectId[]): Promise<Map<string, Reading>> {
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

/** Items of a list, and metadata, do not say what they are. */
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
