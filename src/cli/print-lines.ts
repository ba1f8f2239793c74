import { fitLines } from '../report/text/fit-lines.ts'
import type { Io } from './command.ts'

/** Width of a text for people where that of their terminal is not known: in a pipe, a log, an editor. */
const WIDTH = 100

/** Prints lines, broken at the width of the reader's terminal, or after 100 characters. */
export function printLines(io: Pick<Io, 'stdout' | 'columns'>, lines: readonly string[]): void {
  io.stdout(`${fitLines(lines, io.columns ?? WIDTH).join('\n')}\n`)
}
