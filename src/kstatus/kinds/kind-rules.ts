import { textOf } from '../model/fields.ts'
import type { KindRule } from '../model/kind-rule.ts'
import { current, inProgress } from '../model/resource-status.ts'
import { daemonSetStatus } from './daemon-set.ts'
import { definitionStatus } from './definition.ts'
import { deploymentStatus } from './deployment.ts'
import { podStatus } from './pod.ts'
import { replicaSetStatus } from './replica-set.ts'
import { statefulSetStatus } from './stateful-set.ts'

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
