import type { TreeSnapshot } from '../../src/git/tree.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'
import type { RequiredApproval } from '../../src/rules/model/finding.ts'
import type { FleetPlace } from '../context/readable-repository.ts'

/** An outcome, and the commit and repository that it is about. */
export interface CommitOutcome {
  readonly outcome: Outcome
  readonly context: ReportContext
  /** What was evaluated, of the repository that it is said on; absent where nothing of it was read. */
  readonly tree?: TreeSnapshot
  /** What admins of fleets must agree to by what was evaluated; guarded files besides are known by their paths. */
  readonly required?: readonly FleetApprovals[]
  /** The fleets that evaluated it; absent where none did. */
  readonly fleets?: readonly FleetPlace[]
}

/** The approvals that the admins of one fleet must give. */
export interface FleetApprovals {
  readonly fleet: FleetPlace
  readonly approvals: readonly RequiredApproval[]
}
