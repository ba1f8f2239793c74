import type { AuditItem, ClusterAudit } from '../../audit/audit-item.ts'
import type { FleetSurvey } from '../../audit/survey-fleet.ts'
import { andMore } from '../../message/and-more.ts'
import { code, htmlCode, prose } from '../../message/markdown.ts'
import type { Section } from '../text/fold.ts'
import { placeOf } from '../text/place.ts'
import { folded } from './shown-list.ts'

const MAX_CLUSTERS = 20
const MAX_ITEMS = 25
const MAX_NAMED = 8

/** Shows the audit of each cluster; clusters with the same result are listed together. */
export function auditSections({ audit }: FleetSurvey, here: string): Section[] {
  const bodies = audit.map(one => ({ cluster: one, body: bodyOf(one, here) }))
  const alike = [...Map.groupBy(bodies, ({ body }) => JSON.stringify(body)).values()].map(all => ({
    body: all[0]!.body,
    clusters: all.map(({ cluster }) => cluster),
  }))
  const shown = alike.slice(0, MAX_CLUSTERS)
  const left = alike.slice(MAX_CLUSTERS).reduce((sum, { clusters }) => sum + clusters.length, 0)
  return [
    ...(shown.length > 0 ? [{ text: '### Lockdown of the clusters', label: '' }] : []),
    ...shown.map(({ body, clusters }) => ({ text: clustersText(clusters, body), label: 'audit of clusters' })),
    ...(left > 0 ? [{ text: `… and ${left} more clusters: \`bailiwick audit\` shows them.`, label: '' }] : []),
  ]
}

interface AuditBody {
  readonly counts: string
  readonly lines: readonly string[]
}

/** How many items are in which state, and then what is to be said about them. */
function bodyOf({ items }: ClusterAudit, here: string): AuditBody {
  const of = (state: AuditItem['state']) => items.filter(item => item.state === state)
  const counts = (['ok', 'weak', 'unknown'] as const).map(state => `${of(state).length} ${state}`).join(', ')
  const open = [...of('weak'), ...of('unknown')]
  const lines = open.slice(0, MAX_ITEMS).map(item => itemText(item, here))
  const left = open.length - lines.length
  return { counts, lines: [...lines, ...(left > 0 ? [`- …${andMore(left)}`] : [])] }
}

function clustersText(clusters: readonly ClusterAudit[], { counts, lines }: AuditBody): string {
  const shown = clusters.slice(0, MAX_NAMED)
  const left = clusters.length - shown.length
  const more = andMore(left)
  if (lines.length === 0) return `✅ ${shown.map(({ cluster }) => code(cluster, 80)).join(', ')}${more}: ${counts}`
  const names = shown.map(({ cluster }) => htmlCode(cluster, 80)).join(', ') + more
  const weak = clusters[0]?.items.some(({ state }) => state === 'weak')
  return folded(`${weak ? '⚠️' : '❔'} ${names}: ${counts}`, lines.join('\n'))
}

function itemText({ check, state, message, fix, origin }: AuditItem, here: string): string {
  const where = origin ? placeOf(origin, here) : ''
  const parts = [
    `- ${state === 'weak' ? '⚠️' : '❔'} ${code(check, 80)}: ${prose(message, 400)}`,
    ...(where ? [`(${code(where)})`] : []),
    ...(fix ? [`**Fix:** ${prose(fix, 800)}`] : []),
  ]
  return parts.join(' ')
}
