import type { Finding, NodeFailure, Verdict } from '../rules/finding.ts'
import { isNew } from './headline.ts'
import { code } from './markdown.ts'

/** How many tenants a table shows; the clean ones are counted beyond that. */
const MAX_ROWS = 50
const MAX_COLUMNS = 20

/** The table tenant x cluster; `''` where there is nothing to tabulate. Tenants with something to say come first. */
export function matrixTable(verdict: Verdict): string {
  const cells = cellsOf(verdict)
  const red = new Set([...cells.values()].filter(({ weight }) => weight > 0).map(({ cluster }) => cluster))
  const all = verdict.clusters.map(cluster => cluster.name)
  // where there are too many columns, the ones with something to say are kept
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
  const cells = new Map<string, Cell>()
  for (const cell of cellsOf(verdict).values()) {
    const sum = cells.get(cell.cluster) ?? new Cell(cell.tenant, cell.cluster)
    cells.set(cell.cluster, sum.add(cell))
  }
  const parts = verdict.clusters.map(({ name }) => `${code(name, 80)} ${cells.get(name)?.text ?? '✅'}`)
  const shown = parts.slice(0, 12)
  const left = parts.length - shown.length
  return shown.join(' · ') + (left > 0 ? ` · and ${left} more` : '')
}

/** What there is to say about one tenant on one cluster. */
class Cell {
  readonly tenant: string
  readonly cluster: string
  #undecided = 0
  #fresh = 0
  #standing = 0
  #warnings = 0

  constructor(tenant: string, cluster: string) {
    this.tenant = tenant
    this.cluster = cluster
  }

  /** What blocks counts more than what stands. */
  get weight(): number {
    return (this.#undecided + this.#fresh) * 1000 + this.#standing
  }

  get text(): string {
    if (this.#undecided > 0) return '❔ not decided'
    if (this.#fresh > 0) return `❌ ${this.#fresh}`
    if (this.#standing > 0) return `✅ (${this.#standing} standing)`
    return this.#warnings > 0 ? `✅ (${this.#warnings} ⚠️)` : '✅'
  }

  count(item: Finding | NodeFailure): void {
    const isFresh = isNew(item)
    if ('level' in item && item.level === 'warning') this.#warnings += isFresh ? 1 : 0
    else if (!isFresh) this.#standing += item.state === 'standing' ? 1 : 0
    else if ('level' in item) this.#fresh++
    else this.#undecided++
  }

  add(other: Cell): this {
    this.#undecided += other.#undecided
    this.#fresh += other.#fresh
    this.#standing += other.#standing
    this.#warnings += other.#warnings
    return this
  }
}

const keyOf = ({ tenant, cluster }: { readonly tenant: string; readonly cluster: string }) => `${cluster}\0${tenant}`

function cellsOf({ violations, warnings, errors }: Verdict): Map<string, Cell> {
  const cells = new Map<string, Cell>()
  for (const item of [...violations, ...warnings, ...errors]) {
    const cell = cells.get(keyOf(item)) ?? new Cell(item.tenant, item.cluster)
    cells.set(keyOf(item), cell)
    cell.count(item)
  }
  return cells
}

/** Every tenant, and besides them the platform and tenants that this change removes where there is something to say. */
function rowsOf(verdict: Verdict, cells: ReadonlyMap<string, Cell>) {
  const named = new Map(verdict.tenants.map(tenant => [tenant.name, new Set(tenant.clusters)]))
  for (const { tenant, cluster } of cells.values()) named.set(tenant, (named.get(tenant) ?? new Set()).add(cluster))
  return [...named]
    .map(([tenant, clusters]) => {
      const own = [...clusters].map(cluster => [cluster, cells.get(keyOf({ tenant, cluster }))] as const)
      return {
        label: tenant === '' ? 'the platform' : code(tenant, 80),
        weight: own.reduce((sum, [, cell]) => sum + (cell?.weight ?? 0), 0),
        cells: new Map(own.map(([cluster, cell]) => [cluster, cell?.text ?? '✅'])),
      }
    })
    .sort((a, b) => b.weight - a.weight || (a.label < b.label ? -1 : 1))
}
