import type { Visibility } from '../../fleet/model/visibility.ts'
import type { SourceLine } from '../../origin.ts'
import type { AppliedObject } from '../apply-report.ts'
import type { DriftNote } from '../drift-note.ts'

/** How far a Kustomization has come: `pending` has no result of the present run yet, `waiting` has health checks that run. */
export type NodePhase = 'pending' | 'applied' | 'waiting' | 'held' | 'failed'

/** One Kustomization on a cluster, without secret values. */
export interface NodeState {
  readonly key: string
  /** Who it was applied as. */
  readonly user: string
  readonly phase: NodePhase
  readonly reason?: string
  /** Address of the repository that its content comes from, and the commit. */
  readonly repository: string
  readonly commit: string
  /** Of its evaluated objects. */
  readonly digest: string
  /** The commit that brought it to this phase; '' if it was in it when the worker looked at it first. */
  readonly since: string
  /** ISO time of the last apply that wrote something, as far as a worker remembers it. */
  readonly appliedAt?: string
  /** ISO time of the next attempt after a failure. */
  readonly retryAt?: string
  /** How many objects, by what was done to them. */
  readonly counts: Readonly<Partial<Record<AppliedObject['action'], number>>>
  /** What was done by this commit, refused objects first; not all of them. */
  readonly objects: readonly AppliedObject[]
  /** Where its Kustomization is written. */
  readonly place?: SourceLine
  /** Of a failure: files and directories of `repository` that it reads. */
  readonly paths?: readonly string[]
}

/**
 * What the page of a cluster shows to the readers of one repository: all Kustomizations to those of the fleet's, their own
 * to others. Plain JSON.
 */
export interface ClusterPage {
  readonly kind: 'cluster'
  readonly owner: string
  readonly repo: string
  /** GitHub's id of the repository. */
  readonly repositoryId: number
  /** Who could see the repository when the page was made: where more can now, it is not shown. */
  readonly visibility: Visibility
  readonly repository: string
  readonly cluster: string
  readonly at: string
  /** The worker is applying. */
  readonly isRunning: boolean
  /** Why the last run ended before its end. */
  readonly problem?: string
  readonly nodes: readonly NodeState[]
  /** Of these nodes: what others changed on the cluster and the worker put back, the latest first. */
  readonly drift: readonly DriftNote[]
}
