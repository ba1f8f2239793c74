import { BailiwickError } from '../../errors.ts'
import { computeStatus } from '../../kstatus/compute-status.ts'
import { failed, type ResourceStatus } from '../../kstatus/model/resource-status.ts'
import type { Json } from '../../kube/node.ts'
import { groupOf, type ObjectId } from '../../kube/object.ts'
import type { ClusterClient } from '../client.ts'
import { itemsAt, mapAt, stringAt } from '../json-at.ts'

const PAGE = '200'

/**
 * Whether pods of a StatefulSet or ReplicaSet that is in progress have failed for good, so that nobody waits for what does
 * not come (fluxcd/cli-utils polling/statusreaders). Undefined: none is known to, or the account may not list them.
 */
export async function failedPods(
  client: ClusterClient,
  user: string,
  id: ObjectId,
  object: Json,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<ResourceStatus | undefined> {
  if (groupOf(id.apiVersion) !== 'apps' || (id.kind !== 'StatefulSet' && id.kind !== 'ReplicaSet')) return undefined
  const labelSelector = selectorText(object)
  if (labelSelector === '' || id.namespace === '') return undefined
  const path = `/api/v1/namespaces/${encodeURIComponent(id.namespace)}/pods`
  try {
    const query = { labelSelector, limit: PAGE }
    const { body } = await client.request({ user }, 'GET', path, { query, signal })
    const gone = itemsAt(body, 'items').filter(pod => hasFailed(pod, now))
    return gone.length === 0 ? undefined : failed('PodsFailed', `${gone.length} pods have failed`)
  } catch (error) {
    if (signal.aborted || !(error instanceof BailiwickError)) throw error
    return undefined
  }
}

/** A pod that is deleted, or that an autoscaler may still find a place for, has not failed for good. */
function hasFailed(item: Json, now: number): boolean {
  const pod = { ...mapAt(item), apiVersion: 'v1', kind: 'Pod' }
  if (stringAt(pod, 'metadata', 'deletionTimestamp') !== '') return false
  const isWaiting = itemsAt(pod, 'status', 'conditions').some(
    condition =>
      stringAt(condition, 'type') === 'PodScheduled' &&
      stringAt(condition, 'status') === 'False' &&
      stringAt(condition, 'reason') === 'Unschedulable',
  )
  return !isWaiting && computeStatus(pod, now).status === 'Failed'
}

/** `spec.selector` as a query has it. */
function selectorText(object: Json): string {
  const labels = Object.entries(mapAt(object, 'spec', 'selector', 'matchLabels')).map(
    ([key, value]) => `${key}=${value}`,
  )
  const expressions = itemsAt(object, 'spec', 'selector', 'matchExpressions').map(one => {
    const key = stringAt(one, 'key')
    const values = itemsAt(one, 'values').join(',')
    const operator = stringAt(one, 'operator')
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values})`
  })
  return [...labels, ...expressions].join(',')
}
