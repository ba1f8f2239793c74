import { groupFindings } from '../../evaluate/verdict/group-findings.ts'
import { shownLines } from '../../fix/shown-lines.ts'
import type { Origin } from '../../origin.ts'
import type { Finding, NodeFailure, Verdict } from '../../rules/model/finding.ts'
import { markedValue } from '../text/marked-value.ts'

/** The lines around an offending value, as a page keeps them. */
export interface Excerpt {
  readonly file: string
  /** Line and column of the value, 1-based. */
  readonly line: number
  readonly column: number
  /** Number of the first of `lines`. */
  readonly first: number
  /** null: a line that is not shown. */
  readonly lines: readonly (string | null)[]
  /** Where the value stands in its line. */
  readonly mark: { readonly start: number; readonly end: number }
}

const AROUND = 3
/** Findings of one page with an excerpt. */
export const MAX_EXCERPTS = 100
const LARGEST = 1024 * 1024

/** The excerpts of a verdict's new findings and errors in one repository, the most severe first, and how many more there would be. */
export function excerptsOf(
  { violations, warnings, errors }: Verdict,
  repository: string,
  read: (path: string) => string | undefined,
): { readonly excerpts: readonly Excerpt[]; readonly left: number } {
  const places = new Map<string, Pick<Finding, 'origin' | 'object'> | NodeFailure>()
  const isHere = ({ origin, state, ...one }: Finding | NodeFailure) =>
    state === 'new' && !('isBefore' in one) && origin.repository === repository && origin.file !== '' && origin.line > 0
  const findings = [violations, warnings].flatMap(list =>
    groupFindings(list.filter(isHere)).map(({ finding }) => finding),
  )
  for (const one of [...findings, ...errors.filter(isHere)]) places.set(placeKey(one.origin), one)
  const files = new Map<string, readonly (string | undefined)[]>()
  const linesOf = (file: string) => {
    const known = files.get(file)
    if (known) return known
    const text = read(file) ?? ''
    const lines = text.length > LARGEST ? [] : shownLines(text)
    files.set(file, lines)
    return lines
  }
  const shown = [...places.values()].slice(0, MAX_EXCERPTS)
  return {
    excerpts: shown.flatMap(one => excerptOf(one, linesOf(one.origin.file)) ?? []),
    left: places.size - shown.length,
  }
}

/** The excerpt at a place; undefined if there is none. */
export function excerptAt(
  excerpts: readonly Excerpt[],
  { file, line, column }: Omit<Origin, 'via'>,
): Excerpt | undefined {
  return excerpts.find(one => one.file === file && one.line === line && one.column === column)
}

const placeKey = ({ file, line, column }: Omit<Origin, 'via'>) => JSON.stringify([file, line, column])

/** Nothing of a Secret, also where it is patched in a file of other objects. */
function excerptOf(
  one: Pick<Finding, 'origin' | 'object'> | NodeFailure,
  lines: readonly (string | undefined)[],
): Excerpt | undefined {
  const { file, line, column } = one.origin
  const own = lines[line - 1]
  const mark = own === undefined ? undefined : markedValue(own, column)
  if (!mark || ('object' in one && one.object.kind === 'Secret')) return undefined
  const first = Math.max(1, line - AROUND)
  const around = lines.slice(first - 1, line + AROUND).map(text => text ?? null)
  // what follows the last newline is no line
  if (first + around.length - 1 === lines.length && around.at(-1) === '' && around.length > 1) around.pop()
  return { file, line, column, first, lines: around, mark }
}
