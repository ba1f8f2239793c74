import type { Verdict } from '../../rules/model/finding.ts'
import { type StateCounts, stateCounts, weightOf } from '../state-counts.ts'
import { count } from '../text/headline.ts'
import { type Html, html } from './html.ts'

/** How many tenants and clusters are shown; those with something to say come first. */
const MAX_ROWS = 200
const MAX_COLUMNS = 30

/** The table tenant x cluster; undefined where there is nothing to tabulate. */
export function matrixSection(verdict: Verdict): Html | undefined {
  const cells = cellsOf(verdict)
  const weights = weightsOf(cells)
  const clusters = sorted(
    verdict.clusters.map(({ name }) => name),
    weights.clusters,
  )
  const tenants = sorted([...verdict.tenants.map(({ name }) => name), ...weights.tenants.keys()], weights.tenants)
  if (clusters.length === 0 || tenants.length === 0) return undefined
  const isThere = new Set(verdict.tenants.flatMap(({ name, clusters }) => clusters.map(one => keyOf(one, name))))
  const columns = clusters.slice(0, MAX_COLUMNS)
  const rows = tenants.slice(0, MAX_ROWS).map(tenant => {
    const row = columns.map(cluster => {
      const key = keyOf(cluster, tenant)
      return html`<td class="cell">${cellText(cells.get(key), isThere.has(key))}</td>`
    })
    return html`<tr><th scope="row">${tenant === '' ? 'the platform' : tenant}</th>${row}</tr>
`
  })
  const left = [
    ...(tenants.length > MAX_ROWS ? [`${tenants.length - MAX_ROWS} more tenants`] : []),
    ...(clusters.length > MAX_COLUMNS ? [`${clusters.length - MAX_COLUMNS} more clusters`] : []),
  ].join(' and ')
  return html`<div class="scroll" role="region" aria-label="Table of clusters and tenants" tabindex="0"><table>
<thead><tr><th scope="col">Tenant</th>${columns.map(name => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
${left !== '' && html`<p class="dim">and ${left}, with the fewest findings</p>`}`
}

const keyOf = (cluster: string, tenant: string) => JSON.stringify([cluster, tenant])

function cellsOf({ violations, warnings, errors }: Verdict): Map<string, StateCounts> {
  const cells = Map.groupBy([...violations, ...warnings, ...errors], one => keyOf(one.cluster, one.tenant))
  return new Map([...cells].map(([key, items]) => [key, stateCounts(items)]))
}

function weightsOf(cells: ReadonlyMap<string, StateCounts>) {
  const clusters = new Map<string, number>()
  const tenants = new Map<string, number>()
  for (const [key, counts] of cells) {
    const [cluster, tenant]: [string, string] = JSON.parse(key)
    const weight = weightOf(counts)
    clusters.set(cluster, (clusters.get(cluster) ?? 0) + weight)
    tenants.set(tenant, (tenants.get(tenant) ?? 0) + weight)
  }
  return { clusters, tenants }
}

function sorted(names: readonly string[], weights: ReadonlyMap<string, number>): string[] {
  const unique = [...new Set(names)]
  return unique.sort((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0) || (a < b ? -1 : 1))
}

function cellText(cell: StateCounts | undefined, isThere: boolean): Html {
  if (cell && cell.errors > 0) return html`<span class="tag warn">? not evaluated</span>`
  if (cell && cell.violations > 0) return html`<span class="tag bad">✗ ${cell.violations}</span>`
  const notes = [
    ...(cell && cell.existing > 0 ? [`${cell.existing} existing`] : []),
    ...(cell && cell.warnings > 0 ? [count(cell.warnings, 'warning')] : []),
  ].join(', ')
  if (notes !== '') return html`<span class="tag good">✓</span> <span class="dim small">${notes}</span>`
  return isThere ? html`<span class="tag good">✓ clean</span>` : html`<span class="dim">not there</span>`
}
