import { isReported } from '../../fleet/config/is-reported.ts'
import { memberSettings } from '../../fleet/config/member-settings.ts'
import type { ConfiguredSeverity, FleetConfig } from '../../fleet/model/fleet-config.ts'
import { SEVERITIES, type Severity } from '../../rules/model/finding.ts'
import type { FindingLevel, RuleText, Violation } from '../../rules/model/rule.ts'

/** The weight of a finding. */
export interface Weight {
  readonly level: FindingLevel
  readonly severity: Severity
  /** It would be a violation, but whoever it concerns is only reported on. */
  readonly reported?: true
}

/**
 * The weight of a finding: what the rule or the finding itself sets, less in the profile `baseline` and in mode `report`,
 * and as the fleet's own file sets it for the rule; a tenant's own file can only add. Undefined: the rule is off. What
 * cannot be decided stays an error, but what a rule that is off did not look at.
 */
export function levelOf(rule: RuleText, violation: Violation, config: FleetConfig): Weight | undefined {
  const severity = violation.severity ?? rule.severity
  const level = violation.level ?? rule.level ?? 'violation'
  const isOff = config.severities.get(rule.id) === 'off'
  if (level === 'error') return isOff && violation.code !== undefined ? undefined : { level, severity }
  // of several tenants the strictest setting counts
  const tenants = memberSettings(config, violation.node.tenant)
  const isBaseline = tenants.every(one => (one?.profile ?? config.profile) === 'baseline')
  const softened = (violation.profile ?? rule.profile) === 'restricted' && isBaseline ? 'warning' : level
  const byFleet = configured(config.severities.get(rule.id), violation, { level: softened, severity })
  const weight = tenants
    .flatMap(one => one?.own?.severities.get(rule.id) ?? [])
    .reduce((most, own) => heavier(most, configured(own, violation, { level: softened, severity })), byFleet)
  if (weight?.level !== 'violation' || !isReported(config, violation.node.tenant)) return weight
  return { ...weight, level: 'warning', reported: true }
}

/** A severity makes a violation of it, except of a finding that is itself only a warning. */
function configured(
  setting: ConfiguredSeverity | undefined,
  violation: Violation,
  otherwise: Weight,
): Weight | undefined {
  if (setting === undefined) return otherwise
  if (setting === 'off') return undefined
  if (setting === 'warning') return { ...otherwise, level: 'warning' }
  return { level: violation.level ?? 'violation', severity: setting }
}

function heavier(one: Weight | undefined, other: Weight | undefined): Weight | undefined {
  if (!one || !other) return one ?? other
  return isHeavier(other, one) ? other : one
}

/** Whether something counts more than something else: a violation more than a warning, then by severity. */
export function isHeavier(one: Omit<Weight, 'reported'>, other: Omit<Weight, 'reported'>): boolean {
  if (one.level !== other.level) return one.level === 'violation'
  return SEVERITIES.indexOf(one.severity) < SEVERITIES.indexOf(other.severity)
}
