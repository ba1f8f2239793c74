import type { Json } from '../../kube/node.ts'
import { conditionsOf, fieldOf, integerOf, textOf } from '../model/fields.ts'
import { current, failed, inProgress, type ResourceStatus, unknown } from '../model/resource-status.ts'

/** A Job as Flux reads it (fluxcd/pkg runtime/statusreaders): current once it is complete, not while it runs; no generic rules. */
export function jobStatus(object: Json): ResourceStatus {
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
