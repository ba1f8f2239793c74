import type { Verdict } from '../../rules/finding.ts'
import { isNew } from '../headline.ts'
import { type Html, html } from './html.ts'

/** How many tenants and clusters are shown; those with something to say come first. */
const MAX_ROWS = 200
const MAX_COLUMNS = 30

interface Cell {
  undecided: number
  fresh: number
  standing: number
  warnings: number
}

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

function cellsOf({ violations, warnings, errors }: Verdict): Map<string, Cell> {
  const cells = new Map<string, Cell>()
  const cellOf = ({ cluster, tenant }: { readonly cluster: string; readonly tenant: string }) => {
    const key = keyOf(cluster, tenant)
    const cell = cells.get(key) ?? { undecided: 0, fresh: 0, standing: 0, warnings: 0 }
    cells.set(key, cell)
    return cell
  }
  for (const one of errors) cellOf(one)[isNew(one) ? 'undecided' : 'standing']++
  for (const one of violations)
    if (isNew(one) || one.state === 'standing') cellOf(one)[isNew(one) ? 'fresh' : 'standing']++
  for (const one of warnings) if (isNew(one)) cellOf(one).warnings++
  return cells
}

function weightsOf(cells: ReadonlyMap<string, Cell>) {
  const clusters = new Map<string, number>()
  const tenants = new Map<string, number>()
  for (const [key, { undecided, fresh, standing }] of cells) {
    const [cluster, tenant]: [string, string] = JSON.parse(key)
    const weight = (undecided + fresh) * 1_000 + standing
    clusters.set(cluster, (clusters.get(cluster) ?? 0) + weight)
    tenants.set(tenant, (tenants.get(tenant) ?? 0) + weight)
  }
  return { clusters, tenants }
}

function sorted(names: readonly string[], weights: ReadonlyMap<string, number>): string[] {
  const unique = [...new Set(names)]
  return unique.sort((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0) || (a < b ? -1 : 1))
}

function cellText(cell: Cell | undefined, isThere: boolean): Html {
  if (cell && cell.undecided > 0) return html`<span class="tag warn">? not decided</span>`
  if (cell && cell.fresh > 0) return html`<span class="tag bad">✗ ${cell.fresh}</span>`
  const notes = [
    ...(cell && cell.standing > 0 ? [`${cell.standing} standing`] : []),
    ...(cell && cell.warnings > 0 ? [`${cell.warnings} warned`] : []),
  ].join(', ')
  if (notes !== '') return html`<span class="tag good">✓</span> <span class="dim small">${notes}</span>`
  return isThere ? html`<span class="tag good">✓ clean</span>` : html`<span class="dim">not there</span>`
}
