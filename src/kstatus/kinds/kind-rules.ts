import { hasCondition, integerOf, textOf } from '../model/fields.ts'
import type { KindRule } from '../model/kind-rule.ts'
import { current, failed, inProgress } from '../model/resource-status.ts'
import { daemonSetStatus } from './daemon-set.ts'
import { deploymentStatus } from './deployment.ts'
import { podStatus } from './pod.ts'
import { statefulSetStatus } from './stateful-set.ts'

const replicaSetStatus: KindRule = (object, conditions) => {
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

/** Of a CustomResourceDefinition. */
const definitionStatus: KindRule = (_object, conditions) => {
  for (const { type, status, reason, message } of conditions) {
    if (type === 'NamesAccepted' && status === 'False') return failed(reason, message)
    if (type !== 'Established') continue
    if (status === 'False' && reason !== 'Installing') return failed(reason, message)
    if (status === 'True') return current('CRD is established')
  }
  return inProgress('Installing', 'Install in progress')
}

const alwaysReady: KindRule = () => current('Resource is always ready')

const claimStatus: KindRule = object => {
  const phase = textOf(object, ['status', 'phase'], 'unknown')
  return phase === 'Bound' ? current('PVC is Bound') : inProgress('NotBound', `PVC is not Bound. phase: ${phase}`)
}

const serviceStatus: KindRule = object => {
  const isWithoutAddress = textOf(object, ['spec', 'clusterIP']) === ''
  if (textOf(object, ['spec', 'type'], 'ClusterIP') === 'LoadBalancer' && isWithoutAddress) {
    return inProgress('NoIPAssigned', 'ClusterIP not set. Service type: LoadBalancer')
  }
  return current('Service is ready')
}

const budgetStatus: KindRule = () => current('AllowedDisruptions has been computed.')

/** Kinds with rules of their own, as `<group>/<Kind>` (fluxcd/cli-utils pkg/kstatus/status/core.go). Jobs are read apart. */
export const KIND_RULES: ReadonlyMap<string, KindRule> = new Map([
  ['/Service', serviceStatus],
  ['/Pod', podStatus],
  ['/Secret', alwaysReady],
  ['/ConfigMap', alwaysReady],
  ['/PersistentVolumeClaim', claimStatus],
  ['apps/StatefulSet', statefulSetStatus],
  ['apps/DaemonSet', daemonSetStatus],
  ['extensions/DaemonSet', daemonSetStatus],
  ['apps/Deployment', deploymentStatus],
  ['extensions/Deployment', deploymentStatus],
  ['apps/ReplicaSet', replicaSetStatus],
  ['extensions/ReplicaSet', replicaSetStatus],
  ['policy/PodDisruptionBudget', budgetStatus],
  ['batch/CronJob', alwaysReady],
  ['apiextensions.k8s.io/CustomResourceDefinition', definitionStatus],
])
