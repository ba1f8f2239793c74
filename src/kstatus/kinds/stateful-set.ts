import { integerOf, textOf } from '../model/fields.ts'
import type { KindRule } from '../model/kind-rule.ts'
import { current, inProgress } from '../model/resource-status.ts'

/** Its controller sets no conditions: whether it has failed cannot be seen. */
export const statefulSetStatus: KindRule = object => {
  if (textOf(object, ['spec', 'updateStrategy', 'type']) === 'OnDelete') {
    return current('StatefulSet is using the ondelete update strategy')
  }
  const at = (field: string) => integerOf(object, ['status', field], 0)
  const wanted = integerOf(object, ['spec', 'replicas'], 1)
  const [replicas, ready, updated] = [at('replicas'), at('readyReplicas'), at('updatedReplicas')]
  if (wanted > replicas) return inProgress('LessReplicas', `Replicas: ${replicas}/${wanted}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (replicas > wanted) return inProgress('ExtraPods', `Pending termination: ${replicas - wanted}`)
  const partition = integerOf(object, ['spec', 'updateStrategy', 'rollingUpdate', 'partition'], -1)
  if (partition !== -1) {
    const due = wanted - partition
    if (updated < due) return inProgress('PartitionRollout', `updated: ${updated}/${due}`)
    return current(`Partition rollout complete. updated: ${updated}`)
  }
  const present = at('currentReplicas')
  if (wanted > present) return inProgress('LessCurrent', `current: ${present}/${wanted}`)
  if (textOf(object, ['status', 'currentRevision']) !== textOf(object, ['status', 'updateRevision'])) {
    return inProgress('RevisionMismatch', 'Waiting for updated revision to match current')
  }
  return current(`All replicas scheduled as expected. Replicas: ${replicas}`)
}
