import type { AuditItem, ClusterAudit } from '../../rules/audit/audit-item.ts'
import type { FleetSurvey } from '../../rules/audit/survey-fleet.ts'
import type { Section } from '../fit-budget.ts'
import { code, htmlCode, prose } from '../markdown.ts'
import { placeOf } from '../place.ts'
import { folded } from './shown-list.ts'

const MAX_CLUSTERS = 20
const MAX_ITEMS = 25

/** What keeps the tenants of each cluster apart, and what does not. */
export function auditSections({ audit }: FleetSurvey, here: string): Section[] {
  const shown = audit.slice(0, MAX_CLUSTERS)
  const left = audit.length - shown.length
  return [
    ...(shown.length > 0 ? [{ text: '### Lockdown of the clusters', label: '' }] : []),
    ...shown.map(one => ({ text: clusterText(one, here), label: 'audit of a cluster' })),
    ...(left > 0 ? [{ text: `… and ${left} more clusters: \`npx bailiwick audit\` shows them.`, label: '' }] : []),
  ]
}

function clusterText({ cluster, items }: ClusterAudit, here: string): string {
  const of = (state: AuditItem['state']) => items.filter(item => item.state === state)
  const counts = (['ok', 'weak', 'unknown'] as const).map(state => `${of(state).length} ${state}`).join(', ')
  const open = [...of('weak'), ...of('unknown')]
  if (open.length === 0) return `✅ ${code(cluster, 80)}: ${counts}`
  const lines = open.slice(0, MAX_ITEMS).map(item => itemText(item, here))
  const left = open.length - lines.length
  if (left > 0) lines.push(`- … and ${left} more`)
  const mark = of('weak').length > 0 ? '⚠️' : '❔'
  return folded(`${mark} ${htmlCode(cluster, 80)}: ${counts}`, lines.join('\n'))
}

function itemText({ check, state, message, fix, origin }: AuditItem, here: string): string {
  const where = origin ? placeOf(origin, here) : ''
  const parts = [
    `- ${state === 'weak' ? '⚠️' : '❔'} ${code(check, 80)}: ${prose(message, 400)}`,
    ...(where ? [`(${code(where)})`] : []),
    ...(fix ? [`**Fix:** ${prose(fix, 400)}`] : []),
  ]
  return parts.join(' ')
}
