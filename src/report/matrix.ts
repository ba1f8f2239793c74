import { code } from '../base/markup.ts'
import type { Finding, NodeFailure, Verdict } from '../rules/model/finding.ts'
import { countFindings, groupFailures } from '../verdict/summary.ts'
import { isNew } from './text/findings.ts'

/** What was found for each tenant on each cluster, as far as it fits. */
interface Matrix {
  readonly clusters: readonly string[]
  /** Those with findings first. */
  readonly rows: readonly {
    /** '' for the platform. */
    readonly tenant: string
    /** In the order of the clusters; undefined where the tenant is not. */
    readonly cells: readonly (StateCounts | undefined)[]
  }[]
  /** Tenants with the fewest findings, and clusters, that are left out. */
  readonly left: { readonly tenants: number; readonly clusters: number }
}

/** How many findings one cell counts, each cause once. */
export interface StateCounts {
  readonly errors: number
  readonly violations: number
  /** Existing errors and violations. */
  readonly existing: number
  readonly warnings: number
}

/**
 * Every tenant of a verdict, and besides them the platform and tenants that this change removes where there is something to
 * show. Where there are more clusters than fit, those with the most findings are kept. Undefined where there is nothing to tabulate.
 */
export function matrixOf(verdict: Verdict, most: { readonly tenants: number; readonly clusters: number }) {
  const items = itemsOf(verdict)
  const found = Map.groupBy(items, keyOf)
  const on = new Map(verdict.tenants.map(({ name, clusters }) => [name, new Set(clusters)]))
  for (const { tenant, cluster } of items) on.set(tenant, (on.get(tenant) ?? new Set()).add(cluster))
  const countsOf = (all?: readonly (Finding | NodeFailure)[]) => (all ? stateCounts(all) : NONE)
  const rows = [...on].map(([tenant, clusters]) => {
    const cells = new Map([...clusters].map(cluster => [cluster, countsOf(found.get(keyOf({ tenant, cluster })))]))
    return { tenant, cells, weight: [...cells.values()].reduce((sum, counts) => sum + weightOf(counts), 0) }
  })
  const names = verdict.clusters.map(({ name }) => name)
  const weightOn = (name: string) => rows.reduce((sum, { cells }) => sum + weightOf(cells.get(name) ?? NONE), 0)
  const weights = new Map(names.map(name => [name, weightOn(name)]))
  const sorted = names.length <= most.clusters ? names : names.sort((a, b) => weights.get(b)! - weights.get(a)!)
  const clusters = sorted.slice(0, most.clusters)
  if (clusters.length === 0 || rows.length === 0) return undefined
  rows.sort((a, b) => b.weight - a.weight || (nameOf(a) < nameOf(b) ? -1 : 1))
  const shown = rows.slice(0, most.tenants)
  const matrix: Matrix = {
    clusters,
    rows: shown.map(({ tenant, cells }) => ({ tenant, cells: clusters.map(name => cells.get(name)) })),
    left: { tenants: rows.length - shown.length, clusters: names.length - clusters.length },
  }
  return matrix
}

const keyOf = ({ tenant, cluster }: { readonly tenant: string; readonly cluster: string }) => `${cluster}\0${tenant}`
const itemsOf = ({ violations, warnings, errors }: Verdict) => [...violations, ...warnings, ...errors]
const nameOf = ({ tenant }: { readonly tenant: string }) => (tenant === '' ? 'the platform' : code(tenant, 80))

/** The table tenant x cluster; `''` where there is nothing to tabulate. */
export function matrixTable(verdict: Verdict): string {
  const matrix = matrixOf(verdict, { tenants: 50, clusters: 20 })
  if (!matrix) return ''
  const { clusters, rows, left } = matrix
  const lines = [
    `| tenant | ${clusters.map(name => code(name, 80)).join(' | ')} |`,
    `|---|${clusters.map(() => '---|').join('')}`,
    ...rows.map(row => `| ${nameOf(row)} | ${row.cells.map(cell => (cell ? cellText(cell) : '➖')).join(' | ')} |`),
  ]
  if (left.tenants > 0) lines.push('', `… and ${left.tenants} more tenants, with the fewest findings.`)
  if (left.clusters > 0) lines.push('', `… and ${left.clusters} more clusters.`)
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

const NONE: StateCounts = { errors: 0, violations: 0, existing: 0, warnings: 0 }

/** Counts findings and errors by what they mean for the result. */
function stateCounts(items: readonly (Finding | NodeFailure)[]): StateCounts {
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
const weightOf = ({ errors, violations, existing }: StateCounts) => (errors + violations) * 1000 + existing

const causes = (failures: readonly NodeFailure[]) => groupFailures(failures).length
