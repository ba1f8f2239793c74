import type { Figure } from './figures.ts'

/** Where and when the figures were taken. */
export interface Run {
  readonly commit: string
  readonly date: string
  readonly machine: string
  readonly isFull: boolean
}

const COLUMNS = ['change', 'figure', 'wall ms', 'CPU ms', 'memory MiB', 'ratio', 'to'] as const

/** bench/RESULTS.md: each figure beside that of the file's last version, the worst change first. */
export function resultsPage({ commit, date, machine, isFull }: Run, figures: readonly Figure[], last: string): string {
  const before = figuresIn(last)
  const rows = figures
    .map(figure => ({ figure, change: changeOf(figure, before.get(figure.name)) }))
    .sort((a, b) => (b.change ?? Number.NEGATIVE_INFINITY) - (a.change ?? Number.NEGATIVE_INFINITY))
    .map(({ figure: { name, wall, cpu, memory, ratio, to = '' }, change }) => {
      const told = change === undefined ? 'new' : `${change < 0 ? '' : '+'}${Math.round(change * 100)} %`
      return [told, name, short(wall), short(cpu), short(memory), short(ratio), to]
    })
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return `# Benchmarks

\`npm run bench${isFull ? ' -- --full' : ''}\` at ${commit} on ${date}: ${machine}. The change is that of the ratio to a floor or peer of the same
run where there is one, otherwise of the CPU time, otherwise of the wall time; what became worse comes first.

${[COLUMNS, COLUMNS.map(() => '---'), ...rows].map(line).join('\n')}
`
}

/** The figures of a page, by name. */
export function figuresIn(page: string): Map<string, Figure> {
  const rows = page.split('\n').flatMap(line => {
    const [, change, name, wall, cpu, memory, ratio] = line.split('|').map(cell => cell.trim())
    if (name === undefined || change === '---' || change === 'change') return []
    const entries = Object.entries({ wall, cpu, memory, ratio }).filter(([, text]) => text !== undefined && text !== '')
    return [{ name, ...Object.fromEntries(entries.map(([key, text]) => [key, Number(text)])) } as Figure]
  })
  return new Map(rows.map(figure => [figure.name, figure]))
}

/** How much worse a figure became, 0.1 for a tenth; undefined where there is nothing to compare. */
function changeOf(now: Figure, before: Figure | undefined): number | undefined {
  for (const key of ['ratio', 'cpu', 'wall'] as const) {
    const [value, old] = [now[key], before?.[key]]
    if (value !== undefined && old) return value / old - 1
  }
  return undefined
}

const short = (value: number | undefined): string =>
  value === undefined ? '' : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
