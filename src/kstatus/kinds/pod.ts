import type { Json } from '../../kube/node.ts'
import { fieldOf, hasCondition, textOf } from '../model/fields.ts'
import type { KindRule } from '../model/kind-rule.ts'
import { current, failed, inProgress, unknown } from '../model/resource-status.ts'

/** How long a pod may be unscheduled: an autoscaler may still find it a place. */
const SCHEDULE_WINDOW_MS = 15_000

export const podStatus: KindRule = (object, conditions, now) => {
  const phase = textOf(object, ['status', 'phase'])
  switch (phase) {
    case '':
      return inProgress('PodNotObserved', 'Pod phase not available')
    case 'Succeeded':
      return current('Pod has completed successfully')
    case 'Failed':
      return current('Pod has completed, but not successfully')
    case 'Running': {
      if (hasCondition(conditions, 'Ready', 'True')) return current('Pod is Ready')
      const looping = crashLooping(object)
      if (looping.length === 0) return inProgress('PodRunningNotReady', 'Pod is running but is not Ready')
      return failed('ContainerCrashLooping', `Containers in CrashLoop state: ${looping.join(',')}`)
    }
    case 'Pending': {
      const scheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
      if (scheduled?.reason !== 'Unschedulable') return inProgress('PodPending', 'Pod is in the Pending phase')
      const created = Date.parse(textOf(object, ['metadata', 'creationTimestamp']))
      const isNew = now - SCHEDULE_WINDOW_MS < created
      return isNew
        ? inProgress('PodNotScheduled', 'Pod has not been scheduled')
        : failed('PodUnschedulable', 'Pod could not be scheduled')
    }
    default:
      return unknown(`unknown phase ${phase}`)
  }
}

function crashLooping(object: Json): string[] {
  const statuses = fieldOf(object, 'status', 'containerStatuses')
  if (!Array.isArray(statuses)) return []
  return statuses.flatMap(status => {
    const reason = textOf(status, ['state', 'waiting', 'reason'])
    return reason === 'CrashLoopBackOff' ? [textOf(status, ['name'])] : []
  })
}
