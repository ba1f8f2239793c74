import type { Json } from '../kube/node.ts'
import { groupOf } from '../kube/object.ts'
import { KIND_RULES } from './kinds/kind-rules.ts'
import { type Condition, conditionsOf, fieldOf, hasCondition, integerOf, textOf } from './model/fields.ts'
import { current, failed, inProgress, type ResourceStatus, unknown } from './model/resource-status.ts'

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
