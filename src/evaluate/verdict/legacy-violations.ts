import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Finding, Verdict } from '../../rules/model/finding.ts'
import { evaluateFleet } from './evaluate-fleet.ts'

/** What stands in a fleet, whoever it blocks. */
interface Legacy {
  readonly verdict: Verdict
  /** The violations that belong into a baseline: a waiver ends by itself, what it covers has no place there. */
  readonly violations: readonly Finding[]
}

/** Evaluates a fleet by itself as if it blocked: what is only reported on today would block the day that changes. Pure. */
export function legacyViolations(fleet: Fleet, when: { readonly combination: string; readonly today: string }): Legacy {
  const tenants = [...fleet.config.tenants].map(([name, one]) => [name, { ...one, enforcement: undefined }] as const)
  const config = { ...fleet.config, enforcement: 'block' as const, tenants: new Map(tenants) }
  const { verdict } = evaluateFleet({ ...fleet, config }, when)
  return { verdict, violations: verdict.violations.filter(one => one.state === 'new') }
}
