import type { Verdict } from '../rules/finding.ts'
import { isNew } from './headline.ts'
import { code } from './markdown.ts'

/** How many tenants a table shows; the clean ones are counted beyond that. */
const MAX_ROWS = 50
const MAX_COLUMNS = 20

/** The table tenant x cluster; `''` where there is nothing to tabulate. Tenants with something to say come first. */
export function matrixTable(verdict: Verdict): string {
  const red = new Set([...verdict.violations, ...verdict.errors].map(item => item.cluster))
  const all = verdict.clusters.map(cluster => cluster.name)
  // where there are too many columns, the ones with something to say are kept
  const clusters =
    all.length <= MAX_COLUMNS ? all : all.sort((a, b) => Number(red.has(b)) - Number(red.has(a))).slice(0, MAX_COLUMNS)
  const rows = rowsOf(verdict)
  if (clusters.length === 0 || rows.length === 0) return ''
  const shown = rows.slice(0, MAX_ROWS)
  const lines = [
    `| tenant | ${clusters.map(name => code(name, 80)).join(' | ')} |`,
    `|---|${clusters.map(() => '---|').join('')}`,
    ...shown.map(row => `| ${row.label} | ${clusters.map(name => row.cells.get(name) ?? '➖').join(' | ')} |`),
  ]
  const left = rows.length - shown.length
  if (left > 0) lines.push('', `… and ${left} more tenants, with the fewest findings.`)
  if (all.length > clusters.length) lines.push('', `… and ${all.length - clusters.length} more clusters.`)
  return lines.join('\n')
}

/** The same in one line, by cluster: `staging ❌ 2 · production ✅`. */
export function matrixLine(verdict: Verdict): string {
  const parts = verdict.clusters.map(({ name }) => `${code(name, 80)} ${cell(verdict, name)}`)
  const shown = parts.slice(0, 12)
  const left = parts.length - shown.length
  return shown.join(' · ') + (left > 0 ? ` · and ${left} more` : '')
}

function rowsOf(verdict: Verdict) {
  const named = new Map(verdict.tenants.map(tenant => [tenant.name, new Set(tenant.clusters)]))
  // findings of the platform itself, and of tenants that this change removes
  for (const { tenant, cluster } of [...verdict.violations, ...verdict.warnings, ...verdict.errors]) {
    const clusters = named.get(tenant) ?? new Set<string>()
    named.set(tenant, clusters.add(cluster))
  }
  return [...named]
    .map(([tenant, clusters]) => ({
      label: tenant === '' ? 'the platform' : code(tenant, 80),
      weight: verdict.violations.filter(f => f.tenant === tenant).length,
      cells: new Map([...clusters].map(cluster => [cluster, cell(verdict, cluster, tenant)])),
    }))
    .sort((a, b) => b.weight - a.weight || (a.label < b.label ? -1 : 1))
}

function cell(verdict: Verdict, cluster: string, tenant?: string): string {
  const here = (item: { cluster: string; tenant: string }) =>
    item.cluster === cluster && (tenant === undefined || item.tenant === tenant)
  const errors = verdict.errors.filter(here)
  const violations = verdict.violations.filter(here)
  const fresh = violations.filter(isNew).length
  if (errors.some(isNew)) return '❔ not decided'
  if (fresh > 0) return `❌ ${fresh}`
  const standing = violations.filter(finding => finding.state === 'standing').length + errors.length
  if (standing > 0) return `✅ (${standing} standing)`
  const warnings = verdict.warnings.filter(item => here(item) && isNew(item)).length
  return warnings > 0 ? `✅ (${warnings} ⚠️)` : '✅'
}
