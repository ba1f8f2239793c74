import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import type { CommitOf } from './applied-groups.ts'
import type { ApprovedWithValues } from './approved-nodes.ts'
import type { Reporter } from './run-report.ts'

/** What the worker of a cluster may apply, and who says what came of it. */
export interface Offered {
  readonly reporter: Reporter
  readonly binding: ClusterBinding
  readonly approved: ApprovedWithValues
  readonly fleet: CommitOf
}
