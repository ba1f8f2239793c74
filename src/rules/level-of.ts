import type { FleetConfig } from '../fleet/config/fleet-config.ts'
import type { Breach, Level, RuleText } from './rule.ts'

/**
 * How much a breach counts: what the rule or the breach itself says, less in the profile `baseline`, and as the fleet's
 * own file sets it for the rule. Undefined: the rule is off. What cannot be decided stays an error.
 */
export function levelOf(rule: RuleText, breach: Breach, config: FleetConfig): Level | undefined {
  const level = breach.level ?? rule.level ?? 'violation'
  if (level === 'error') return level
  const configured = config.severities.get(rule.id)
  if (configured === 'off') return undefined
  if (configured === 'warning') return 'warning'
  const profile = config.tenants.get(breach.node.tenant ?? '')?.profile ?? config.profile
  return rule.profile === 'restricted' && profile === 'baseline' ? 'warning' : level
}
