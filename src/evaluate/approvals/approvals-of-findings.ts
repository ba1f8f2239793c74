import { shownObject } from '../../facts/shown.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Finding, RequiredApproval } from '../../rules/model/finding.ts'
import { chartContentChange } from '../../rules/sources/chart-content-change.ts'
import { chartNotRendered } from '../../rules/sources/chart-not-rendered.ts'
import { loosenedPolicies } from './loosened-policies.ts'
import { repairedNodes } from './repaired-nodes.ts'

const OF_CHARTS = [chartNotRendered.id, chartContentChange.id]

/** What passes only with an approval because of what rules found. */
export function approvalsOfFindings(findings: readonly Finding[], head: Fleet, base: Fleet): RequiredApproval[] {
  const isAsked = head.config.unrenderedCharts === 'approve'
  return [
    ...loosenedPolicies(findings),
    ...(isAsked ? changedCharts(findings) : []),
    ...repairedNodes(findings, head, base),
  ]
}

/** One for each changed file that decides what HelmReleases create, unless it is waived or a violation. */
function changedCharts(findings: readonly Finding[]): RequiredApproval[] {
  const found = findings.filter(one => OF_CHARTS.includes(one.rule) && one.state === 'new' && one.level === 'warning')
  const byPlace = Map.groupBy(found, ({ origin }) => `${origin.repository} ${origin.file}`)
  return [...byPlace.values()].map(([{ rule, object, origin } = found[0]!]) => ({
    rule,
    path: origin.file,
    message: `${origin.file} changes the chart, version or values of ${shownObject(object.kind, object.namespace, object.name)}, and charts are not rendered`,
  }))
}
