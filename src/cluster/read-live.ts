import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { Actor, ApiResource, ClusterClient } from './client.ts'
import { objectPath } from './discovery.ts'
import { stringAt } from './json-at.ts'

/** Metadata only: ownership needs no more, and so no Secret of anybody comes into this process. */
export const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

interface Reading {
  readonly find: () => Promise<ApiResource | undefined>
  /** Absent: metadata only. */
  readonly whole?: boolean
  readonly signal?: AbortSignal | undefined
}

interface Live {
  readonly resource: ApiResource
  readonly path: string
  /** Undefined where there is none. */
  readonly live: Json | undefined
}

/**
 * The object as it is, read as the actor; undefined where the cluster does not have its kind. A kind that was known
 * and is served no more is looked up again, so that a removed definition is not taken for a removed object.
 */
export async function readLive(
  client: ClusterClient,
  actor: Actor,
  id: ObjectId,
  { find, whole = false, signal }: Reading,
): Promise<Live | undefined> {
  for (let attempt = 1; attempt <= 2; attempt++) {
    const resource = await find()
    if (!resource) return undefined
    const path = objectPath(resource, id.namespace, id.name)
    const options = whole ? { signal } : { accept: METADATA_ONLY, signal }
    const { status, body } = await client.request(actor, 'GET', path, options)
    if (status !== 404) return { resource, path, live: body }
    if (stringAt(body, 'details', 'name') === id.name) return { resource, path, live: undefined }
    client.discovery.forget()
  }
  const what = `cluster ${client.name} lists ${id.apiVersion} ${id.kind} and does not serve it`
  throw new BailiwickError('cluster-unavailable', `${what}, so ${display(id)} cannot be read`)
}
