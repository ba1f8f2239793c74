import { ended } from '../../base/message.ts'
import type { Origin } from '../../base/origin.ts'
import { visible } from '../../base/visible.ts'
import { fitLines } from '../../report/text/fit-budget.ts'
import { placeOf } from '../../report/text/place.ts'
import type { Io } from './command.ts'

/**
 * Output capabilities of the terminal. Colors follow https://no-color.org and FORCE_COLOR. Links are used only in terminals known to
 * support them, because others print the escape sequence.
 */
export function terminalIo(
  env: NonNullable<Io['env']>,
  stdoutIsTerminal: boolean,
  width?: number,
): Pick<Io, 'color' | 'isTerminal' | 'hasLinks' | 'columns'> {
  const columns = columnsOf(env, width)
  const isDumb = env.TERM === 'dumb'
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  return {
    isTerminal: stdoutIsTerminal,
    ...(columns === undefined ? {} : { columns }),
    color: !env.NO_COLOR && (forced || (stdoutIsTerminal && !isDumb)),
    hasLinks: stdoutIsTerminal && !isDumb && opensLinks(env),
  }
}

/** Narrower, words no longer fit beside their titles. */
const NARROWEST = 60

/** The variable COLUMNS, else the width of the terminal. */
function columnsOf({ COLUMNS = '' }: NonNullable<Io['env']>, width: number | undefined): number | undefined {
  const columns = /^[1-9]\d{0,4}$/.test(COLUMNS) ? Number(COLUMNS) : width
  // a terminal that does not know its width reports 0
  return !columns ? undefined : Math.max(NARROWEST, columns)
}

/** Terminals that identify themselves and support links. */
function opensLinks(env: NonNullable<Io['env']>): boolean {
  if (env.CI !== undefined) return false
  if (['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'Hyper', 'Tabby'].includes(env.TERM_PROGRAM ?? '')) return true
  return (
    env.KITTY_WINDOW_ID !== undefined ||
    env.WT_SESSION !== undefined ||
    env.ALACRITTY_WINDOW_ID !== undefined ||
    Number(env.VTE_VERSION ?? 0) >= 5000
  )
}

/** Width of a text if that of the terminal is unknown: in a pipe, a log, an editor. */
const WIDTH = 100

/** Prints lines, broken at the width of the reader's terminal, or after 100 characters. */
export function printLines(io: Pick<Io, 'stdout' | 'columns'>, lines: readonly string[]): void {
  io.stdout(`${fitLines(lines, io.columns ?? WIDTH).join('\n')}\n`)
}

/** `error[<code>]: what, at <where>. What to do`: one line, whatever the values contain. */
export function errorLine(error: {
  readonly code: string
  readonly message: string
  readonly origin?: Origin | undefined
  readonly fix?: string | undefined
}): string {
  const place = error.origin ? placeOf(error.origin, error.origin.repository) : ''
  const what = `${error.message}${place ? `, at ${place}` : ''}`
  return `error[${error.code}]: ${visible(error.fix ? `${ended(what)} ${error.fix}` : what, 2000)}`
}

const GAP = '  '
/** Minimum width of a column that is narrowed. */
const NARROWEST_COLUMN = 12

/** The cells of a row; or one text below the row before it, such as a path, which is never broken. */
export type TableRow = readonly string[] | string

/**
 * Rows below their titles, each column as wide as its widest cell, two spaces between. No line is longer than `width`:
 * the widest columns are narrowed and their cells continue on the next line. Cells must be one line each.
 */
export function table(titles: readonly string[], rows: readonly TableRow[], width = WIDTH): string[] {
  const all = [titles, ...rows]
  const cellsOf = (column: number) => all.map(row => (typeof row === 'string' ? 0 : (row[column] ?? '').length))
  const longest = (most: number, cell = '') => Math.max(most, ...cell.split(' ').map(word => word.length))
  const wanted = titles.map((_, column) => Math.max(...cellsOf(column)))
  const room = width - GAP.length * (titles.length - 1)
  // a name is broken only where the table has no other way to fit
  const least = titles.map((_, column) =>
    all.reduce((most, row) => (typeof row === 'string' ? most : longest(most, row[column])), NARROWEST_COLUMN),
  )
  const whole = fitted(wanted, room, least)
  const narrowest = titles.map(() => NARROWEST_COLUMN)
  const widths = sum(whole) > room ? fitted(whole, room, narrowest) : whole
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

/** The widest columns are narrowed together, none below its `least`. */
function fitted(wanted: readonly number[], width: number, least: readonly number[]): number[] {
  const widths = [...wanted]
  while (sum(widths) > width) {
    const widest = Math.max(...widths.filter((room, column) => room > least[column]!))
    if (widest === Number.NEGATIVE_INFINITY) break
    for (const [column, room] of widths.entries()) if (room === widest && room > least[column]!) widths[column]!--
  }
  return widths
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

/** Wraps one line of text at `room` characters, at spaces; breaks a word only if it alone is longer. */
export function wrap(text: string, room = 100): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
    while (line.length > room) {
      lines.push(line.slice(0, room))
      line = line.slice(room)
    }
  }
  return [...lines, line]
}
