import type { Changes } from '../diff/changes.ts'
import { mergeChanges } from '../diff/merge-changes.ts'
import { mergeVerdicts } from '../evaluate/verdict/merge-verdicts.ts'
import { readsFrom } from '../evaluate/verdict/reads-from.ts'
import { scopeVerdict } from '../evaluate/verdict/scope-verdict.ts'
import type { Evaluation, Verdict } from '../rules/model/finding.ts'
import { changesFor } from './changes/changes-for.ts'
import { narrowed } from './narrow.ts'
import type { ReportContext } from './outcome.ts'

/** What one fleet says about a change. */
export interface FleetStatement {
  /** Normalized address of the fleet. */
  readonly fleet: string
  readonly evaluation: Evaluation
  /** What the change does to what its clusters get; absent without a base. */
  readonly changes?: Changes | undefined
  /** Sources of it that fewer people can see than the repository of the change. */
  readonly narrower: readonly string[]
}

/** What is published on a repository, and to whom. */
type CombinedOutcome = Pick<ReportContext, 'audience' | 'changes'> & {
  readonly outcome: Verdict
  readonly nodes: NonNullable<ReportContext['nodes']>
}

/**
 * Combines the evaluations of fleets into the outcome for the repository at `url`. A fleet repository sees everything; a
 * tenant's sees its own nodes and what the change newly breaks, with the names of its own tenants only.
 */
export function combinedOutcome(
  statements: readonly [FleetStatement, ...FleetStatement[]],
  url: string,
  kind: ReportContext['kind'],
): CombinedOutcome {
  // of designated fleets, or of the repository alone: never by what a tenant's repository holds
  const isFleet = statements.some(({ fleet }) => fleet === url)
  const keepNew = kind !== 'branch'
  const verdictOf = ({ evaluation }: FleetStatement) =>
    isFleet ? evaluation.verdict : scopeVerdict(evaluation, url, { keepNew })
  const [first, ...more] = statements
  const merged = mergeVerdicts([verdictOf(first), ...more.map(verdictOf)])
  const known = mergeChanges(statements.flatMap(({ changes }) => changes ?? []))
  const combined = { verdict: merged, nodes: statements.flatMap(({ evaluation }) => evaluation.nodes) }
  // the one place: whatever is published of an evaluation is made of this
  const narrower = new Set(statements.flatMap(one => one.narrower))
  const { verdict: outcome, nodes, changes } = narrowed({ ...combined, ...(known ? { changes: known } : {}) }, narrower)
  const audience = isFleet ? undefined : tenantsOf(statements, url)
  return {
    outcome,
    nodes,
    ...(audience === undefined ? {} : { audience }),
    ...(changes ? { changes: changesFor(changes, audience, outcome, nodes) } : {}),
  }
}

function tenantsOf(statements: readonly FleetStatement[], url: string): string[] {
  const nodes = statements.flatMap(({ evaluation }) => evaluation.nodes).filter(node => readsFrom(node, url))
  return [...new Set(nodes.map(node => node.tenant ?? ''))].sort()
}
