import { integerOf } from '../model/fields.ts'
import type { KindRule } from '../model/kind-rule.ts'
import { current, failed, inProgress } from '../model/resource-status.ts'

/** Without a deadline the controller sets no `Progressing` condition; this value means none, too. */
const NO_DEADLINE = 2 ** 31 - 1

export const deploymentStatus: KindRule = (object, conditions) => {
  const at = (...path: string[]) => integerOf(object, path, 0)
  let progressing = integerOf(object, ['spec', 'progressDeadlineSeconds'], NO_DEADLINE) === NO_DEADLINE
  let available = false
  for (const { type, status, reason } of conditions) {
    if (type === 'Progressing') {
      if (reason === 'ProgressDeadlineExceeded') return failed(reason, 'Progress deadline exceeded')
      if (status === 'True' && reason === 'NewReplicaSetAvailable') progressing = true
    }
    if (type === 'Available' && status === 'True') available = true
  }
  const wanted = integerOf(object, ['spec', 'replicas'], 1)
  const replicas = at('status', 'replicas')
  const updated = at('status', 'updatedReplicas')
  const ready = at('status', 'readyReplicas')
  const usable = at('status', 'availableReplicas')
  if (wanted > replicas) return inProgress('LessReplicas', `Replicas: ${replicas}/${wanted}`)
  if (wanted > updated) return inProgress('LessUpdated', `Updated: ${updated}/${wanted}`)
  if (replicas > wanted) return inProgress('ExtraPods', `Pending termination: ${replicas - wanted}`)
  if (updated > usable) return inProgress('LessAvailable', `Available: ${usable}/${updated}`)
  if (wanted > ready) return inProgress('LessReady', `Ready: ${ready}/${wanted}`)
  if (!progressing) return inProgress('ReplicaSetNotAvailable', 'ReplicaSet not Available')
  if (!available) return inProgress('DeploymentNotAvailable', 'Deployment not Available')
  return current(`Deployment is available. Replicas: ${replicas}`)
}
