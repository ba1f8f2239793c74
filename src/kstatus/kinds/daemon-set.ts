import type { Json } from '../../kube/node.ts'
import { fieldOf, integerOf, textOf } from '../model/fields.ts'
import type { KindRule } from '../model/kind-rule.ts'
import { current, inProgress, type ResourceStatus } from '../model/resource-status.ts'

export const daemonSetStatus: KindRule = object => {
  const unobserved = notObserved(object)
  if (unobserved) return unobserved
  const at = (field: string) => integerOf(object, ['status', field], 0)
  const desired = integerOf(object, ['status', 'desiredNumberScheduled'], -1)
  if (desired === -1) return inProgress('NoDesiredNumber', 'Missing .status.desiredNumberScheduled')
  const steps: readonly (readonly [string, string, number])[] = [
    ['LessCurrent', 'Current', at('currentNumberScheduled')],
    ['LessUpdated', 'Updated', at('updatedNumberScheduled')],
    ['LessAvailable', 'Available', at('numberAvailable')],
    ['LessReady', 'Ready', at('numberReady')],
  ]
  for (const [reason, what, count] of steps) {
    if (desired > count) return inProgress(reason, `${what}: ${count}/${desired}`)
  }
  return current(`All replicas scheduled as expected. Replicas: ${desired}`)
}

/** Its controller always sets both: where they are missing it has not looked at the object yet. */
function notObserved(object: Json): ResourceStatus | undefined {
  const kind = textOf(object, ['kind'])
  if (fieldOf(object, 'metadata', 'generation') === undefined) {
    return inProgress('NoGeneration', `${kind} metadata.generation not found`)
  }
  if (fieldOf(object, 'status', 'observedGeneration') !== undefined) return undefined
  return inProgress('NoObservedGeneration', `${kind} status.observedGeneration not found`)
}
