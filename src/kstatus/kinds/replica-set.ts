import { hasCondition, integerOf } from '../model/fields.ts'
import type { KindRule } from '../model/kind-rule.ts'
import { current, inProgress } from '../model/resource-status.ts'

export const replicaSetStatus: KindRule = (object, conditions) => {
  if (hasCondition(conditions, 'ReplicaFailure', 'True')) {
    return inProgress('ReplicaFailure', 'Replica Failure condition. Check Pods')
  }
  const at = (field: string) => integerOf(object, ['status', field], 0)
  const wanted = integerOf(object, ['spec', 'replicas'], 1)
  const replicas = at('replicas')
  const steps: readonly (readonly [string, string, number])[] = [
    ['LessLabelled', 'Labelled', at('fullyLabeledReplicas')],
    ['LessAvailable', 'Available', at('availableReplicas')],
    ['LessReady', 'Ready', at('readyReplicas')],
  ]
  for (const [reason, what, count] of steps) {
    if (wanted > count) return inProgress(reason, `${what}: ${count}/${wanted}`)
  }
  if (replicas > wanted) return inProgress('ExtraPods', `Pending termination: ${replicas - wanted}`)
  return current(`ReplicaSet is available. Replicas: ${replicas}`)
}
