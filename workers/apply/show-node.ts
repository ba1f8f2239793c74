import type { ReconcileOutcome } from '../../src/cluster/status/kustomization-status.ts'
import { type ObjectStep, subject } from '../../src/cluster/status/status-events.ts'
import { redact } from '../../src/message/redact.ts'
import type { AppliedObject } from '../../src/report/apply-report.ts'
import type { NodeResult } from './apply-node.ts'
import type { NodeHealth } from './health-watch.ts'
import type { ShownNode, StatusBoard } from './status-board.ts'

type Shown = Pick<NodeResult, 'objects' | 'complete'> & {
  readonly inventory: Pick<NodeResult['inventory'], 'entries'>
  readonly pruned?: boolean
  readonly health?: NodeHealth | undefined
}

/**
 * Shows that a node was applied, or what of it was refused. `inventory` holds what it has on the cluster now; `pruned`:
 * what it has no more is gone, too.
 */
export function showResult(
  board: StatusBoard,
  node: ShownNode,
  { objects, complete, inventory, pruned = true, health = { state: 'none' } }: Shown,
  durationMs: number,
): void {
  const { entries } = inventory
  const changes = changesOf(objects)
  if (complete && pruned) {
    board.show(node, { outcome: healthOutcome(health, entries), changes, durationMs })
    return
  }
  const refused = objects.filter(({ action }) => action === 'refused')
  const done = complete ? [] : changes.map(({ object, action }) => `${subject(object)} ${action}`)
  const message = complete ? pruneFailure(refused) : [...refused.map(applyFailure), ...done].join('\n')
  const reason = complete ? 'PruneFailed' : 'ReconciliationFailed'
  board.show(node, { outcome: { state: 'failed', reason, message, entries }, changes, durationMs })
}

/** What the API server refuses names its object already, as with Flux. */
function applyFailure({ object, message = 'refused' }: AppliedObject): string {
  const text = redact(message, object)
  return text.startsWith(`${subject(object)} `) ? text : `${subject(object)}: ${text}`
}

/** In the words of kustomize-controller (fluxcd/pkg, ssa/manager_delete.go). */
function pruneFailure(refused: readonly AppliedObject[]): string {
  const each = refused.map(({ object, message = 'refused' }) => {
    return `${subject(object)} delete failed: ${redact(message, object)};`
  })
  return `delete failed, errors: ${each.join('')}`
}

/** Everything is applied; whether it is healthy is the rest. */
function healthOutcome(health: NodeHealth, entries: Shown['inventory']['entries']): ReconcileOutcome {
  switch (health.state) {
    case 'none':
      return { state: 'applied', entries }
    case 'waiting':
      return { state: 'checking', entries }
    case 'healthy':
      return { state: 'applied', entries, healthMs: health.tookMs }
    default:
      return {
        ...{ state: 'failed', reason: 'HealthCheckFailed', message: redact(health.reason) },
        ...{ entries, healthMs: health.tookMs },
      }
  }
}

/** Shows that a node could not be applied, or that what it has no more could not be deleted. */
export function showFailure(
  board: StatusBoard,
  node: ShownNode,
  { reason, message }: { readonly reason: 'ReconciliationFailed' | 'PruneFailed'; readonly message: string },
): void {
  board.show(node, { outcome: { state: 'failed', reason, message: redact(message) } })
}

/** Flux leaves a suspended one alone, and observes its generation where it was ready. */
export function showSuspended(board: StatusBoard, node: ShownNode): void {
  board.show(node, { outcome: { state: 'suspended' } })
}

/** Shows why a node is not applied. `dependency`: the key of the node that it waits for. */
export function showHeld(board: StatusBoard, node: ShownNode, reason: string, dependency?: string): void {
  const shown =
    dependency === undefined
      ? { reason: 'NotApproved', message: reason }
      : {
          reason: 'DependencyNotReady',
          message: `dependency '${dependency.split('/').slice(1).join('/')}' is not ready`,
        }
  board.show(node, { outcome: { state: 'waiting', ...shown } })
}

/** What was done to objects, as events tell it. */
export function changesOf(objects: readonly AppliedObject[]): ObjectStep[] {
  return objects.flatMap(({ object, action }): ObjectStep[] => {
    if (action === 'created' || action === 'configured') return [{ object, action }]
    return action === 'pruned' ? [{ object, action: 'deleted' }] : []
  })
}
