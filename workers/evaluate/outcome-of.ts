import { mergeChanges } from '../../src/diff/merge-changes.ts'
import { mergeVerdicts } from '../../src/evaluate/verdict/merge-verdicts.ts'
import { readsFrom } from '../../src/evaluate/verdict/reads-from.ts'
import { scopeVerdict } from '../../src/evaluate/verdict/scope-verdict.ts'
import { changesFor } from '../../src/report/changes/changes-for.ts'
import { narrowed } from '../../src/report/narrow.ts'
import type { Outcome, ReportContext } from '../../src/report/outcome.ts'
import type { FleetAnswer } from '../fleets/evaluate-change.ts'
import type { FleetApprovals } from './said.ts'

/** What is said on a repository, and to whom. */
type Statement = Pick<ReportContext, 'fleet' | 'audience' | 'nodes' | 'changes'> & {
  readonly outcome: Outcome
  /** What the admins of each fleet must agree to by what was evaluated. */
  readonly required: readonly FleetApprovals[]
}

/**
 * Combines the evaluations of all fleets into the outcome for the repository at `url`. A fleet repository sees
 * everything; a tenant's sees its own nodes and what the change newly breaks, with the names of its own tenants only.
 */
export function outcomeOf(answers: readonly FleetAnswer[], url: string, kind: ReportContext['kind']): Statement {
  const [first, ...more] = answers
  if (!first) return { outcome: undefined, required: [] }
  // of designated fleets, or of the repository alone: never by what a tenant's repository holds
  const isFleet = answers.some(answer => answer.place.repository.url === url)
  const keepNew = kind !== 'branch'
  const verdicts = [first, ...more].map(({ evaluation }) =>
    isFleet ? evaluation.verdict : scopeVerdict(evaluation, url, { keepNew }),
  )
  const merged = mergeVerdicts(verdicts as [(typeof verdicts)[0], ...typeof verdicts])
  const known = mergeChanges(answers.flatMap(answer => answer.changes ?? []))
  const told = { verdict: merged, nodes: answers.flatMap(answer => answer.evaluation.nodes) }
  // the one place: whatever is published of an evaluation is made of this
  const narrower = new Set(answers.flatMap(answer => answer.narrower))
  const { verdict: outcome, nodes, changes } = narrowed({ ...told, ...(known ? { changes: known } : {}) }, narrower)
  const audience = isFleet ? undefined : tenantsOf(answers, url)
  return {
    outcome,
    required: answers.flatMap(requiredOf),
    fleet: { repository: first.place.repository.url, commit: first.fleetCommit },
    nodes,
    ...(audience === undefined ? {} : { audience }),
    ...(changes ? { changes: changesFor(changes, audience, outcome, nodes) } : {}),
  }
}

/** Guarded files are known by their paths, whatever is evaluated. */
function requiredOf({ place: fleet, evaluation }: FleetAnswer): FleetApprovals[] {
  const approvals = evaluation.verdict.requiredApprovals.filter(({ rule }) => !rule.startsWith('gate-'))
  return approvals.length > 0 ? [{ fleet, approvals }] : []
}

function tenantsOf(answers: readonly FleetAnswer[], url: string): string[] {
  const nodes = answers.flatMap(answer => answer.evaluation.nodes).filter(node => readsFrom(node, url))
  return [...new Set(nodes.map(node => node.tenant ?? ''))].sort()
}
