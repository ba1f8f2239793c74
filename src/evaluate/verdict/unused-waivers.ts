import { FleetIndex } from '../../facts/fleet-index.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import { unusedWaiver, waiverUnused } from '../../rules/config/waiver-unused.ts'
import type { Finding } from '../../rules/model/finding.ts'
import { findingOf } from './finding-of.ts'
import { levelOf } from './level-of.ts'
import type { Waivers } from './waivers.ts'

/** A warning for each waiver that none of the findings needs. */
export function unusedWaivers(fleet: Fleet, findings: readonly Finding[], waivers: Waivers): Finding[] {
  const [root] = fleet.nodes
  if (!root || fleet.config.waivers.length === 0 || fleet.disabledRules?.includes(waiverUnused.id)) return []
  const used = new Set(findings.flatMap(finding => waivers.about(finding)))
  const unused = fleet.config.waivers.filter(waiver => !used.has(waiver))
  if (unused.length === 0) return []
  const index = new FleetIndex(fleet)
  return unused.flatMap(waiver => {
    const breach = unusedWaiver(waiver, root)
    const weight = levelOf(waiverUnused, breach, fleet.config)
    return weight ? [findingOf(waiverUnused, weight, breach, index)] : []
  })
}
