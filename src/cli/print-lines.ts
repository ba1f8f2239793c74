import { fitLines } from '../report/text/fit-lines.ts'
import type { Io } from './command.ts'

/** Prints lines, broken at the width of the reader's terminal where it is known. */
export function printLines(io: Pick<Io, 'stdout' | 'columns'>, lines: readonly string[]): void {
  const fitted = io.columns === undefined ? lines : fitLines(lines, io.columns)
  io.stdout(`${fitted.join('\n')}\n`)
}
