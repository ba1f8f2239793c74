import type { Fleet, NotSeen, Tenant } from '../../fleet/model/fleet.ts'
import type { Enforcement, GatedBranch } from '../../fleet/model/fleet-config.ts'
import {
  type Evaluated,
  type Finding,
  type NodeFailure,
  SEVERITIES,
  type VerdictCluster,
} from '../../rules/model/finding.ts'
import { baselineText, isAcceptable, legacyViolations } from '../baseline.ts'
import { gatedBranches } from '../gated-branches.ts'
import { groupFindings } from '../summary.ts'
import { auditFleet } from './audit-fleet.ts'
import type { ClusterAudit } from './audit-item.ts'

/** The survey of a fleet for the first report. Plain JSON. */
export interface FleetSurvey {
  /** The first line of its verdict, as if it blocked and everything were new. */
  readonly summary: string
  readonly clusters: readonly VerdictCluster[]
  readonly tenants: readonly Tenant[]
  /** Addresses and refs of what was read besides the fleet itself. */
  readonly seen: readonly { readonly url: string; readonly ref: string }[]
  readonly notSeen: readonly NotSeen[]
  readonly audit: readonly ClusterAudit[]
  /** Violations that would block if there were no base to compare with, by rule. */
  readonly legacy: readonly { readonly rule: string; readonly count: number }[]
  /** The heaviest of them, one of a rule before a second one of any. */
  readonly worst: readonly Finding[]
  /** What could not be evaluated, each cause once. */
  readonly errors: readonly NodeFailure[]
  readonly errorCount: number
  readonly evaluated: Evaluated
  readonly gated: readonly GatedBranch[]
  readonly enforcement: Enforcement
  /** The baseline file that would list the violations and accept the errors; undefined where there are none. */
  readonly baseline?: string
}

const MAX_WORST = 10
const MAX_ERRORS = 20

/** Surveys a whole fleet for the first report. Pure. */
export function surveyFleet(
  fleet: Fleet,
  own: GatedBranch,
  when: { readonly revisionSet: string; readonly today: string },
): FleetSurvey {
  const { verdict, violations } = legacyViolations(fleet, when)
  const stands = violations.length > 0 || verdict.errors.some(isAcceptable)
  // people count causes
  const counts = Map.groupBy(
    groupFindings(violations).map(({ finding }) => finding),
    one => one.rule,
  )
  const errors = [...new Map([...verdict.errors].reverse().map(one => [one.fingerprint, one])).values()].reverse()
  const names = fleet.clusters.map(({ name }) => name)
  const seen = fleet.repositories.slice(1).map(({ url, ref }) => ({ url, ref: Object.entries(ref).flat().join(' ') }))
  return {
    summary: verdict.summary,
    clusters: verdict.clusters,
    tenants: fleet.tenants,
    seen: seen.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    notSeen: fleet.notSeen,
    audit: auditFleet(fleet, names),
    legacy: [...counts]
      .map(([rule, list]) => ({ rule, count: list.length }))
      .sort((a, b) => b.count - a.count || (a.rule < b.rule ? -1 : 1)),
    worst: worstOf([...counts.values()]),
    errors: errors.slice(0, MAX_ERRORS),
    errorCount: errors.length,
    gated: gatedBranches(fleet, own),
    enforcement: fleet.config.enforcement,
    evaluated: verdict.evaluated,
    ...(stands ? { baseline: baselineText({ violations, errors: verdict.errors }, new Map(), false) } : {}),
  }
}

function worstOf(byRule: readonly (readonly Finding[])[]): Finding[] {
  const weight = ({ severity }: Finding) => SEVERITIES.indexOf(severity)
  const ranked = byRule.flatMap(list =>
    [...list].sort((a, b) => weight(a) - weight(b)).map((one, rank) => ({ one, rank })),
  )
  return ranked
    .sort((a, b) => weight(a.one) - weight(b.one) || a.rank - b.rank)
    .slice(0, MAX_WORST)
    .map(({ one }) => one)
}
