import { KUSTOMIZE_GROUP } from '../../flux/kinds.ts'
import type { ObjectId } from '../../kube/object.ts'
import { goDuration } from './go-duration.ts'
import { failureText, type ReconcileAttempt } from './kustomization-status.ts'

/** One event about a Kustomization, as Flux words it. */
export interface StatusEvent {
  readonly severity: 'info' | 'error'
  readonly reason: string
  readonly message: string
  readonly metadata: Readonly<Record<string, string>>
}

/** What an attempt did to objects, in the order in which it happened. */
export interface ObjectStep {
  readonly object: Pick<ObjectId, 'kind' | 'namespace' | 'name'>
  readonly action: 'created' | 'configured' | 'deleted'
}

interface EventInput {
  readonly attempt: ReconcileAttempt
  readonly changes: readonly ObjectStep[]
  readonly intervalMs: number
  /** Its Healthy condition was True before. */
  readonly wasHealthy: boolean
  /** Another revision was applied before. */
  readonly isNewRevision: boolean
}

/**
 * The events that kustomize-controller 1.9 sends for this attempt, in its order and words; none where the source or its
 * artifact is missing. Pure. The reason is that of the Ready condition at the moment of each.
 */
export function statusEvents({ attempt, changes, intervalMs, wasHealthy, isNewRevision }: EventInput): StatusEvent[] {
  const { outcome, revision, originRevision, durationMs } = attempt
  const metadata = revisionMetadata(revision, originRevision)
  const event = (severity: StatusEvent['severity'], reason: string, message: string): StatusEvent => ({
    severity,
    reason,
    message,
    metadata,
  })
  if (outcome.state === 'suspended') return []
  if (outcome.state === 'waiting') {
    if (outcome.reason !== 'DependencyNotReady') return [event('error', outcome.reason, outcome.message)]
    return [event('info', outcome.reason, 'Dependencies do not meet ready condition, retrying in 30s')]
  }
  if (outcome.state === 'stalled') return [event('error', outcome.reason, outcome.message)]
  const applied = lines(changes.filter(({ action }) => action !== 'deleted'))
  const pruned = lines(changes.filter(({ action }) => action === 'deleted'))
  // kustomize-controller adds what it applied before a failure to the text of the failure
  const isPartial = outcome.state === 'failed' && outcome.reason === 'ReconciliationFailed'
  const events = [isPartial ? '' : applied, pruned].filter(Boolean).map(text => event('info', 'Progressing', text))
  if (outcome.state === 'checking') return events
  if (outcome.state === 'failed') return [...events, event('error', outcome.reason, failureText(outcome))]
  const { healthMs } = outcome
  if (healthMs !== undefined && (!wasHealthy || (isNewRevision && applied !== ''))) {
    events.push(event('info', 'Progressing', `Health check passed in ${goDuration(healthMs)}`))
  }
  const finished = `Reconciliation finished in ${goDuration(durationMs)}, next run in ${goDuration(intervalMs)}`
  const last = event('info', 'ReconciliationSucceeded', finished)
  return [...events, { ...last, metadata: { ...metadata, [`${KUSTOMIZE_GROUP}/commit_status`]: 'update' } }]
}

function lines(changes: readonly ObjectStep[]): string {
  return changes.map(({ object, action }) => `${subject(object)} ${action}`).join('\n')
}

/** The metadata of an event about a revision; none where there is no revision. */
export function revisionMetadata(revision: string, originRevision = ''): Record<string, string> {
  return {
    ...(revision ? { [`${KUSTOMIZE_GROUP}/revision`]: revision } : {}),
    ...(originRevision ? { [`${KUSTOMIZE_GROUP}/originRevision`]: originRevision } : {}),
  }
}

/** `Kind/namespace/name`, or `Kind/name` of what has no namespace. */
export function subject({ kind, namespace, name }: ObjectStep['object']): string {
  return [kind, ...(namespace === '' ? [] : [namespace]), name].join('/')
}
