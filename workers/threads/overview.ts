import { accessOverview } from '../../src/access/access-overview.ts'
import { auditFleet } from '../../src/audit/audit-fleet.ts'
import type { FleetInput } from '../../src/fleet/model/input.ts'
import { policyCoverage } from '../../src/rules/policies/support/policy-coverage.ts'
import type { KeptFleet } from './kept-fleet.ts'
import type { EvaluationAnswer, OverviewRequest } from './protocol.ts'

/**
 * Audits the isolation of a fleet's tenants, and lists access rights and policy results. Cheap for a fleet that was just evaluated.
 */
export function overview({ head, from }: OverviewRequest, kept: KeptFleet): EvaluationAnswer {
  const input: FleetInput = {
    fleet: { ...head.fleet, tree: kept.open(head.fleet.url, head.fleet.tree) },
    sources: head.sources.map(source => ({ ...source, tree: kept.open(source.url, source.tree) })),
    opaque: head.opaque,
    disabledRules: head.disabledRules,
    registries: head.registries,
    access: { facts: head.facts },
  }
  kept.end()
  const fleet = kept.session.build(input)
  if (fleet.wanted.length > 0) return { type: 'wanted', wanted: fleet.wanted, asked: [] }
  const names = fleet.clusters.map(({ name }) => name)
  const audit = from === 0 ? auditFleet(fleet, names) : []
  const policies = from === 0 ? policyCoverage(fleet, names) : []
  return { type: 'overviewed', audit, policies, access: accessOverview(fleet, from) }
}
