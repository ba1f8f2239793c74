import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import type { ClusterClient } from './client.ts'
import { itemsAt, jsonAt, stringAt } from './json-at.ts'

const NAME = 'kustomize-controller'
const LEASE = 'kustomize-controller-leader-election'
const FRESH_MS = 60_000

/**
 * Throws `cluster-controller-active` where a kustomize-controller works on the cluster: a Deployment of it with
 * replicas, or a leader election renewed within the last minute. Two appliers would undo each other's work.
 */
export async function refuseActiveController(client: ClusterClient, now: number = Date.now()): Promise<void> {
  for (const deployment of await list(client, '/apis/apps/v1/deployments')) {
    if (isController(deployment) && jsonAt(deployment, 'spec', 'replicas') !== 0) {
      throw active(client, `Deployment ${place(deployment)} has replicas`)
    }
  }
  for (const lease of await list(client, '/apis/coordination.k8s.io/v1/leases')) {
    if (stringAt(lease, 'metadata', 'name') === LEASE && isHeld(lease, now)) {
      throw active(client, `Lease ${place(lease)} was renewed at ${stringAt(lease, 'spec', 'renewTime')}`)
    }
  }
}

async function list(client: ClusterClient, path: string): Promise<Json[]> {
  const found: Json[] = []
  let next = ''
  do {
    const { body } = await client.request('worker', 'GET', path, {
      query: next ? { limit: '500', continue: next } : { limit: '500' },
    })
    found.push(...itemsAt(body, 'items'))
    next = stringAt(body, 'metadata', 'continue')
  } while (next)
  return found
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

function place(object: Json): string {
  return `${stringAt(object, 'metadata', 'namespace')}/${stringAt(object, 'metadata', 'name')}`
}

function active(client: ClusterClient, what: string): BailiwickError {
  return new BailiwickError(
    'cluster-controller-active',
    `cluster ${client.name} has an active kustomize-controller: ${what}`,
    { fix: 'Scale that Deployment to 0 and wait a minute, or set `mode: gate` for this cluster in clusters.yaml.' },
  )
}
