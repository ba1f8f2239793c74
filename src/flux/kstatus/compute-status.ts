import type { Json } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import {
  type Condition,
  conditionsOf,
  current,
  failed,
  fieldOf,
  hasCondition,
  inProgress,
  integerOf,
  type ResourceStatus,
  textOf,
  unknown,
} from './resource-status.ts'

/**
 * How far the cluster has come with a live object, by the rules of kstatus (fluxcd/cli-utils pkg/kstatus/status) and for
 * Jobs by those of Flux. Pure: `now`, in milliseconds, only decides how long a pod may be unscheduled. Never throws.
 */
export function computeStatus(object: Json, now: number): ResourceStatus {
  const kind = `${groupOf(textOf(object, ['apiVersion']))}/${textOf(object, ['kind'])}`
  if (kind === 'batch/Job') return jobStatus(object)
  if (textOf(object, ['metadata', 'deletionTimestamp']) !== '') {
    return { status: 'Terminating', message: 'Resource scheduled for deletion' }
  }
  const behind = generationStatus(object)
  if (behind) return behind
  const conditions = conditionsOf(object)
  if (!conditions) return unknown('status.conditions is not a list of conditions')
  for (const condition of conditions) {
    if (condition.status !== 'True') continue
    if (condition.type === 'Reconciling') return inProgress(condition.reason, condition.message)
    if (condition.type === 'Stalled') return failed(condition.reason, condition.message)
  }
  const rule = KIND_RULES.get(kind)
  if (rule) return rule(object, conditions, now)
  return readyStatus(conditions)
}

/** What a controller has not looked at yet; undefined where that cannot be seen, or it has. */
function generationStatus(object: Json): ResourceStatus | undefined {
  const generation = fieldOf(object, 'metadata', 'generation')
  if (generation === undefined) return undefined
  if (!Number.isInteger(generation)) return unknown('metadata.generation is not an integer')
  const observed = fieldOf(object, 'status', 'observedGeneration')
  if (observed === undefined) return undefined
  if (!Number.isInteger(observed)) return unknown('status.observedGeneration is not an integer')
  if (observed === generation) return undefined
  const message = `${textOf(object, ['kind'])} generation is ${generation}, but latest observed generation is ${observed}`
  return inProgress('LatestGenerationNotObserved', message)
}

/** Kinds without rules: the first Ready condition decides; without one, what exists is current. */
function readyStatus(conditions: readonly Condition[]): ResourceStatus {
  const ready = conditions.find(({ type, status }) => type === 'Ready' && ['True', 'False', 'Unknown'].includes(status))
  if (!ready) return current('Resource is current')
  return hasCondition([ready], 'Ready', 'True') ? current('Resource is Ready') : inProgress(ready.reason, ready.message)
}

/** A Job as Flux reads it (fluxcd/pkg runtime/statusreaders): current once it is complete, not while it runs; no generic rules. */
function jobStatus(object: Json): ResourceStatus {
  if (fieldOf(object, 'spec', 'suspend') === true) return current('Job is suspended')
  const parallelism = integerOf(object, ['spec', 'parallelism'], 1)
  const completions = integerOf(object, ['spec', 'completions'], parallelism)
  const at = (field: string) => integerOf(object, ['status', field], 0)
  const conditions = conditionsOf(object)
  if (!conditions) return unknown('Failed to compute job status: status.conditions is not a list of conditions')
  for (const { type, status } of conditions) {
    if (status !== 'True') continue
    if (type === 'Complete') return current(`Job Completed. succeeded: ${at('succeeded')}/${completions}`)
    if (type === 'Failed') return failed('JobFailed', `Job Failed. failed: ${at('failed')}/${completions}`)
  }
  if (textOf(object, ['status', 'startTime']) === '') {
    return inProgress('JobNotStarted', `Job not started. active: 0/${parallelism}`)
  }
  const counts = `success:${at('succeeded')}, active: ${at('active')}, failed: ${at('failed')}`
  return inProgress('JobInProgress', `Job in progress. ${counts}`)
}

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

const podStatus: KindRule = (object, conditions, now) => {
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

/** How long a pod may be unscheduled: an autoscaler may still find it a place. */
const SCHEDULE_WINDOW_MS = 15_000

/** Its controller sets no conditions: whether it has failed cannot be seen. */
const statefulSetStatus: KindRule = object => {
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

const daemonSetStatus: KindRule = object => {
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

const deploymentStatus: KindRule = (object, conditions) => {
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

/** Without a deadline the controller sets no `Progressing` condition; this value means none, too. */
const NO_DEADLINE = 2 ** 31 - 1

/** Kinds with rules of their own, as `<group>/<Kind>` (fluxcd/cli-utils pkg/kstatus/status/core.go). Jobs are read apart. */
const KIND_RULES: ReadonlyMap<string, KindRule> = new Map([
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

/** Its controller always sets both: where they are missing it has not looked at the object yet. */
function notObserved(object: Json): ResourceStatus | undefined {
  const kind = textOf(object, ['kind'])
  if (fieldOf(object, 'metadata', 'generation') === undefined) {
    return inProgress('NoGeneration', `${kind} metadata.generation not found`)
  }
  if (fieldOf(object, 'status', 'observedGeneration') !== undefined) return undefined
  return inProgress('NoObservedGeneration', `${kind} status.observedGeneration not found`)
}

function crashLooping(object: Json): string[] {
  const statuses = fieldOf(object, 'status', 'containerStatuses')
  if (!Array.isArray(statuses)) return []
  return statuses.flatMap(status => {
    const reason = textOf(status, ['state', 'waiting', 'reason'])
    return reason === 'CrashLoopBackOff' ? [textOf(status, ['name'])] : []
  })
}

/** What decides about one kind, once the generic rules left it open. `now` in milliseconds. */
type KindRule = (object: Json, conditions: readonly Condition[], now: number) => ResourceStatus
