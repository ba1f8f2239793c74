import { BailiwickError } from '../base/errors.ts'
import type { Json } from '../kube/node.ts'
import type { ApiResource, ClusterClient } from './client.ts'
import { itemsAt, jsonAt, stringAt } from './json.ts'
import { watchKind } from './watch-kind.ts'

const NAME = 'kustomize-controller'
const LEASE = 'kustomize-controller-leader-election'
const FRESH_MS = 60_000

/**
 * Throws `cluster-controller-active` where a kustomize-controller works on the cluster: a Deployment of it with
 * replicas, or a leader election renewed within the last minute. Two appliers would undo each other's work. `watched`: the
 * Deployments of it that a watch knows of, so that only those of its usual name are asked for; absent: all are read.
 */
export async function refuseActiveController(
  client: ClusterClient,
  { now = Date.now(), watched }: { readonly now?: number; readonly watched?: Iterable<string> | undefined } = {},
): Promise<void> {
  const [renamed] = watched ?? []
  if (renamed !== undefined) throw active(client, `Deployment ${renamed} has replicas`)
  const [deployment, lease] = await Promise.all([
    activeDeployment(client, watched === undefined),
    heldLease(client, now),
  ])
  const reason = deployment ?? lease
  if (reason !== undefined) throw active(client, reason)
}

async function activeDeployment(client: ClusterClient, all: boolean): Promise<string | undefined> {
  const query = all ? {} : { fieldSelector: `metadata.name=${NAME}` }
  for await (const deployment of list(client, '/apis/apps/v1/deployments', query)) {
    if (isActiveController(deployment)) return `Deployment ${placeOf(deployment)} has replicas`
  }
  return undefined
}

async function heldLease(client: ClusterClient, now: number): Promise<string | undefined> {
  const query = { fieldSelector: `metadata.name=${LEASE}` }
  for await (const lease of list(client, '/apis/coordination.k8s.io/v1/leases', query)) {
    if (isHeld(lease, now)) return `Lease ${placeOf(lease)} was renewed at ${stringAt(lease, 'spec', 'renewTime')}`
  }
  return undefined
}

/** A Deployment of kustomize-controller with replicas. */
function isActiveController(deployment: Json): boolean {
  return isController(deployment) && jsonAt(deployment, 'spec', 'replicas') !== 0
}

async function* list(
  client: ClusterClient,
  path: string,
  query: Readonly<Record<string, string>>,
): AsyncGenerator<Json, void> {
  let next = ''
  do {
    const { body } = await client.request('worker', 'GET', path, {
      query: next ? { ...query, limit: '500', continue: next } : { ...query, limit: '500' },
    })
    yield* itemsAt(body, 'items')
    next = stringAt(body, 'metadata', 'continue')
  } while (next)
}

/** By its name or by its image, as people rename Deployments and mirror images. */
function isController(deployment: Json): boolean {
  if (stringAt(deployment, 'metadata', 'name') === NAME) return true
  const containers = itemsAt(deployment, 'spec', 'template', 'spec', 'containers')
  return containers.some(container => {
    const image = stringAt(container, 'image').split('@')[0]!.split('/').at(-1)!.split(':')[0]
    return stringAt(container, 'name') === NAME || image === NAME
  })
}

/** A controller that stops in good order clears the holder. */
function isHeld(lease: Json, now: number): boolean {
  const renewed = Date.parse(stringAt(lease, 'spec', 'renewTime'))
  return stringAt(lease, 'spec', 'holderIdentity') !== '' && now - renewed < FRESH_MS
}

function active(client: ClusterClient, what: string): BailiwickError {
  return new BailiwickError(
    'cluster-controller-active',
    `cluster ${client.name} has an active kustomize-controller: ${what}`,
    { fix: 'Scale that Deployment to 0 and wait a minute, or set `mode: gate` for this cluster in clusters.yaml.' },
  )
}

const DEPLOYMENTS: ApiResource = { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true }

/**
 * Looks for another controller before anything is written. A watch knows of those that are called otherwise, so that not
 * every Deployment is read each time; as long as the watch is not on, or must not be, all of them are.
 */
export class ControllerWatch {
  readonly #client: ClusterClient
  readonly #abort = new AbortController()
  /** Places of active controllers by uid; undefined: unknown at the moment. */
  #active: Map<string, string> | undefined
  #running: Promise<void> | undefined

  constructor(client: ClusterClient) {
    this.#client = client
  }

  /** Throws as refuseActiveController. */
  async refuse(): Promise<void> {
    await refuseActiveController(this.#client, { watched: this.#active?.values() })
    this.#running ??= this.#follow()
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.#running
  }

  async #follow(): Promise<void> {
    const { signal } = this.#abort
    const watcher = {
      listed: (objects: readonly Json[]) => {
        this.#active = new Map(objects.map(object => [stringAt(object, 'metadata', 'uid'), placeOf(object)]))
      },
      changed: (object: Json, gone: boolean) => {
        const uid = stringAt(object, 'metadata', 'uid')
        if (!gone && isActiveController(object)) this.#active?.set(uid, placeOf(object))
        else this.#active?.delete(uid)
      },
      interrupted: () => {
        this.#active = undefined
      },
    }
    try {
      await watchKind(this.#client, DEPLOYMENTS, watcher, signal, { whole: isActiveController })
    } catch {
      // it must not be watched: all Deployments are read each time
    }
    this.#active = undefined
  }
}

/** `<namespace>/<name>`. */
function placeOf(object: Json): string {
  return `${stringAt(object, 'metadata', 'namespace')}/${stringAt(object, 'metadata', 'name')}`
}
