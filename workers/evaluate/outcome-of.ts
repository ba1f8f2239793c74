import { combinedOutcome, type FleetStatement } from '../../src/report/combined-outcome.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import type { FleetApprovals } from './commit-outcome.ts'

/** What is said on a repository, and to whom. */
type Statement = Pick<ReportContext, 'fleet' | 'audience' | 'nodes' | 'changes'> & {
  readonly outcome: Outcome
  /** What the admins of each fleet must agree to by what was evaluated. */
  readonly required: readonly FleetApprovals[]
}

/** Combines the evaluations of all fleets into the outcome for the repository at `url`. */
export function outcomeOf(answers: readonly FleetAnswer[], url: string, kind: ReportContext['kind']): Statement {
  const [first, ...more] = answers
  if (!first) return { outcome: undefined, required: [] }
  return {
    ...combinedOutcome([statementOf(first), ...more.map(statementOf)], url, kind),
    required: answers.flatMap(requiredOf),
    fleet: { repository: first.place.repository.url, commit: first.fleetCommit },
  }
}

const statementOf = ({ place, evaluation, changes, narrower }: FleetAnswer): FleetStatement => ({
  fleet: place.repository.url,
  ...{ evaluation, changes, narrower },
})

/** Guarded files are known by their paths, whatever is evaluated. */
function requiredOf({ place: fleet, evaluation }: FleetAnswer): FleetApprovals[] {
  const approvals = evaluation.verdict.requiredApprovals.filter(({ rule }) => !rule.startsWith('gate-'))
  return approvals.length > 0 ? [{ fleet, approvals }] : []
}
