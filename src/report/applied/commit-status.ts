import { hash } from 'node:crypto'
import type { AppliedNode } from '../apply-report.ts'

/** What GitHub shows beside a commit; `context` tells statuses of one commit apart. */
export interface CommitStatus {
  readonly context: string
  readonly state: 'success' | 'failure'
  readonly description: string
}

/** GitHub's: 255 characters of a context, 140 of a description. */
const LONGEST_NAME = 220
const LONGEST_DESCRIPTION = 140

/**
 * The commit status that notification-controller would write with a Provider of type github in the Kustomization's namespace;
 * undefined where it writes none: nothing is decided while health checks run, a dependency is awaited or it is suspended. In
 * place of the first part of the Provider's UID stands a hash of cluster and namespace, each of which has its own Provider.
 * Source: fluxcd/notification-controller internal/notifier/github.go and util.go, internal/server/provider_commit_status.go.
 */
export function commitStatus(applied: AppliedNode): CommitStatus | undefined {
  const reason = reasonOf(applied)
  if (reason === undefined) return undefined
  const [cluster = '', namespace = '', name = ''] = applied.key.split('/')
  const isLong = name.length > LONGEST_NAME
  const id = hash('sha256', isLong ? applied.key : `${cluster}/${namespace}`).slice(0, 8)
  return {
    context: `kustomization/${name.slice(0, LONGEST_NAME)}/${id}`.toLowerCase(),
    state: reason === 'ReconciliationSucceeded' ? 'success' : 'failure',
    description: inWords(reason).slice(0, LONGEST_DESCRIPTION),
  }
}

/** Of the last event that Flux would send; undefined where that leads to no status. */
function reasonOf({ outcome, reason, ready, objects }: AppliedNode): string | undefined {
  if (ready === 'DependencyNotReady' || ready === 'Suspended') return undefined
  if (outcome === 'held') return 'NotApproved'
  if (objects.some(({ action }) => action === 'refused')) return ready ?? 'ReconciliationFailed'
  if (outcome === 'failed') return ready ?? 'ReconciliationFailed'
  // it is applied, and its health checks still run
  return reason === undefined ? 'ReconciliationSucceeded' : undefined
}

/** `HealthCheckFailed` as `health check failed`. */
function inWords(reason: string): string {
  return reason.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}
