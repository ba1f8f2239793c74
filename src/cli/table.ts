import { wrap } from './wrap.ts'

const GAP = '  '
/** A column that must give way keeps this many characters. */
const NARROWEST = 12
const WIDTH = 100

/** The cells of a row; or one text below the row before it, such as a path, which is never broken. */
export type TableRow = readonly string[] | string

/**
 * Rows below their titles, each column as wide as its widest cell, two spaces between; no line is longer than `width`:
 * the widest columns give way and their cells continue on the next line. Cells must be one line each.
 */
export function table(titles: readonly string[], rows: readonly TableRow[], width = WIDTH): string[] {
  const all = [titles, ...rows]
  const cellsOf = (column: number) => all.map(row => (typeof row === 'string' ? 0 : (row[column] ?? '').length))
  const wanted = titles.map((_, column) => Math.max(...cellsOf(column)))
  const widths = fitted(wanted, width - GAP.length * (titles.length - 1))
  return all.flatMap(row => {
    if (typeof row === 'string') return [`${' '.repeat(widths[0] ?? 0)}${GAP}${row}`]
    const cells = widths.map((room, column) => wrap(row[column] ?? '', room))
    const height = Math.max(...cells.map(lines => lines.length))
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((lines, column) => (lines[line] ?? '').padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
  })
}

function fitted(wanted: readonly number[], width: number): number[] {
  const widths = [...wanted]
  for (let over = sum(widths) - width; over > 0; over = sum(widths) - width) {
    const widest = Math.max(...widths)
    if (widest <= NARROWEST) break
    // down to the second widest at most, so that equally wide columns give way together
    const next = Math.max(NARROWEST, ...widths.filter(other => other < widest))
    const shared = widths.filter(other => other === widest).length
    const less = Math.max(1, Math.min(widest - next, Math.ceil(over / shared)))
    for (const [column, room] of widths.entries()) if (room === widest) widths[column] = room - less
  }
  return widths
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
