import { code } from '../base/markup.ts'
import type { Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { countFindings } from '../verdict/summary.ts'
import { isNew } from './text/findings.ts'

/** How many tenants a table shows; the clean ones are counted beyond that. */
const MAX_ROWS = 50
const MAX_COLUMNS = 20

/** The table tenant x cluster; `''` where there is nothing to tabulate. Tenants with findings come first. */
export function matrixTable(verdict: Verdict): string {
  const cells = cellsOf(verdict)
  const red = new Set([...cells.values()].filter(({ counts }) => weightOf(counts) > 0).map(({ cluster }) => cluster))
  const all = verdict.clusters.map(cluster => cluster.name)
  // where there are too many columns, the ones with findings are kept
  const clusters =
    all.length <= MAX_COLUMNS ? all : all.sort((a, b) => Number(red.has(b)) - Number(red.has(a))).slice(0, MAX_COLUMNS)
  const rows = rowsOf(verdict, cells)
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
  const cells = Map.groupBy(itemsOf(verdict), ({ cluster }) => cluster)
  const parts = verdict.clusters.map(({ name }) => `${code(name, 80)} ${cellText(stateCounts(cells.get(name) ?? []))}`)
  const shown = parts.slice(0, 12)
  const left = parts.length - shown.length
  return shown.join(' · ') + (left > 0 ? ` · and ${left} more` : '')
}

function cellText({ errors, violations, existing, warnings }: StateCounts): string {
  if (errors > 0) return '❔ not evaluated'
  if (violations > 0) return `❌ ${violations}`
  if (existing > 0) return `✅ (${existing} existing)`
  return warnings > 0 ? `✅ (${warnings} ⚠️)` : '✅'
}

/** One tenant on one cluster. */
interface Cell {
  readonly tenant: string
  readonly cluster: string
  readonly counts: StateCounts
}

const keyOf = ({ tenant, cluster }: { readonly tenant: string; readonly cluster: string }) => `${cluster}\0${tenant}`

const itemsOf = ({ violations, warnings, errors }: Verdict) => [...violations, ...warnings, ...errors]

function cellsOf(verdict: Verdict): Map<string, Cell> {
  const cells = Map.groupBy(itemsOf(verdict), keyOf)
  return new Map(
    [...cells].map(([key, items]) => {
      const { tenant, cluster } = items[0]!
      return [key, { tenant, cluster, counts: stateCounts(items) }]
    }),
  )
}

/** Every tenant, and besides them the platform and tenants that this change removes where there is something to show. */
function rowsOf(verdict: Verdict, cells: ReadonlyMap<string, Cell>) {
  const named = new Map(verdict.tenants.map(tenant => [tenant.name, new Set(tenant.clusters)]))
  for (const { tenant, cluster } of cells.values()) named.set(tenant, (named.get(tenant) ?? new Set()).add(cluster))
  return [...named]
    .map(([tenant, clusters]) => {
      const own = [...clusters].map(cluster => [cluster, cells.get(keyOf({ tenant, cluster }))?.counts] as const)
      return {
        label: tenant === '' ? 'the platform' : code(tenant, 80),
        weight: own.reduce((sum, [, counts]) => sum + (counts ? weightOf(counts) : 0), 0),
        cells: new Map(own.map(([cluster, counts]) => [cluster, counts ? cellText(counts) : '✅'])),
      }
    })
    .sort((a, b) => b.weight - a.weight || (a.label < b.label ? -1 : 1))
}

/** How many findings a table cell counts, each cause once. */
export interface StateCounts {
  readonly errors: number
  readonly violations: number
  /** Existing errors and violations. */
  readonly existing: number
  readonly warnings: number
}

/** Counts findings and errors by what they mean for the result. */
export function stateCounts(items: readonly (Finding | NodeFailure)[]): StateCounts {
  const errors = items.filter((one): one is NodeFailure => !('level' in one))
  const findings = items.filter((one): one is Finding => 'level' in one)
  const violations = findings.filter(({ level }) => level === 'violation')
  const existing = (list: readonly NodeFailure[]) => causes(list.filter(({ state }) => state === 'standing'))
  return {
    errors: causes(errors.filter(isNew)),
    violations: countFindings(violations.filter(isNew)),
    existing: existing(errors) + countFindings(violations.filter(({ state }) => state === 'standing')),
    warnings: countFindings(findings.filter(one => one.level === 'warning' && isNew(one))),
  }
}

/** What blocks counts more than what exists already. */
export function weightOf({ errors, violations, existing }: StateCounts): number {
  return (errors + violations) * 1000 + existing
}

const causes = (failures: readonly NodeFailure[]) => new Set(failures.map(({ fingerprint }) => fingerprint)).size
