import type { AppIdentity, Octokit } from '../../src/github/client/octokit.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { DriftNote } from '../../src/report/drift-note.ts'
import type { Installation } from '../context/installation.ts'
import type { WorkerContext } from '../context/worker-context.ts'
import type { CommitOf } from './applied-groups.ts'
import type { Approved } from './approved-nodes.ts'
import type { ReportMemory } from './report-memory.ts'

/** What publishes the results of a cluster's runs. */
export interface Reporter {
  readonly context: WorkerContext
  readonly octokit: Octokit
  readonly app: AppIdentity
  readonly installation: Installation
  readonly memory: ReportMemory
}

/** What a run has come to. */
export interface RunReport {
  readonly cluster: string
  readonly fleet: CommitOf
  readonly approved: Approved
  readonly applied: readonly AppliedNode[]
  /** When a node that failed is tried again, in ms since 1970. */
  readonly retryAt: (key: string) => number | undefined
  /** What others changed, and was put back, the latest first. */
  readonly drift: readonly DriftNote[]
  /** Why it ended before its end. */
  readonly problem?: string
}
