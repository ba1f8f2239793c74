import { setTimeout as sleep } from 'node:timers/promises'
import { BailiwickError } from '../errors.ts'
import type { Json } from '../kube/node.ts'
import { display, type ObjectId } from '../kube/object.ts'
import type { ApplyRequest } from './apply-request.ts'
import type { ClusterClient } from './client.ts'
import { objectPath } from './discovery.ts'
import { itemsAt, jsonAt, stringAt } from './json-at.ts'

const POLL_MS = 200

/**
 * Waits until others can build on the object: a CustomResourceDefinition is established and its kinds are served, a
 * Namespace is active; other kinds are ready at once. Throws `cluster-invalid` when that is not so at the deadline.
 */
export async function waitUntilReady(
  client: ClusterClient,
  { user, signal }: Pick<ApplyRequest, 'user' | 'signal'>,
  id: ObjectId,
  deadline: number,
): Promise<void> {
  if (id.kind !== 'CustomResourceDefinition' && id.kind !== 'Namespace') return
  const resource = await client.discovery.find(id.apiVersion, id.kind)
  if (!resource) return
  const path = objectPath(resource, id.namespace, id.name)
  for (;;) {
    const { status, body } = await client.request({ user }, 'GET', path, { signal })
    const missing = status === 404 ? 'it was deleted meanwhile' : await whatIsMissing(client, id, body)
    if (missing === undefined) return
    if (Date.now() > deadline) {
      throw new BailiwickError('cluster-invalid', `${display(id)} is applied but does not become ready: ${missing}`)
    }
    await sleep(POLL_MS)
  }
}

async function whatIsMissing(client: ClusterClient, id: ObjectId, live: Json): Promise<string | undefined> {
  if (id.kind === 'Namespace') {
    const phase = stringAt(live, 'status', 'phase')
    return phase === 'Active' ? undefined : `phase ${phase || 'unknown'}`
  }
  const conditions = itemsAt(live, 'status', 'conditions')
  const established = conditions.find(condition => stringAt(condition, 'type') === 'Established')
  if (stringAt(established, 'status') !== 'True') {
    const refused = conditions.find(
      condition => stringAt(condition, 'type') === 'NamesAccepted' && stringAt(condition, 'status') === 'False',
    )
    return stringAt(refused, 'message') || 'not established'
  }
  const kind = stringAt(live, 'spec', 'names', 'kind')
  for (const version of itemsAt(live, 'spec', 'versions')) {
    const apiVersion = `${stringAt(live, 'spec', 'group')}/${stringAt(version, 'name')}`
    if (jsonAt(version, 'served') !== true) continue
    if (!(await client.discovery.find(apiVersion, kind))) return `${apiVersion} ${kind} is not served yet`
  }
  return undefined
}
