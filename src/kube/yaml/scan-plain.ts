import { COLON, HASH, isBlank, isBlankOrEnd, isBreak, isFlowIndicator, SPACE, TAB } from './characters.ts'
import type { Cursor } from './cursor.ts'
import { TextParts } from './text-parts.ts'

const QUESTION = 63

/** How the last plain scalar ended. */
export interface PlainEnd {
  line: number
  /** A line break followed, so that a key may come next. */
  brokeLine: boolean
}

/**
 * Reads the plain scalar at the cursor as libyaml does, lines folded; the cursor is then at what follows its blanks. It
 * ends before a line that is indented less than `indent`, which does not hold inside brackets (`flow`). Throws
 * `yaml-syntax` for a tab in the indentation, and `yaml-ambiguous` inside brackets for a colon before one of `,[]{}`.
 */
export function scanPlain(cursor: Cursor, indent: number, flow: boolean, ended: PlainEnd): string {
  const { text } = cursor
  const start = cursor.at
  const first = text.slice(start, lineEnd(cursor, flow))
  let parts: TextParts | undefined
  ended.line = cursor.line
  ended.brokeLine = false
  while (isBreak(text.charCodeAt(cursor.at))) {
    ended.brokeLine = true
    const breaks = skipBlankLines(cursor, indent)
    if (!flow && cursor.column < indent) break
    if (cursor.atDocumentMarker() || cursor.code === HASH) break
    const from = cursor.at
    const to = lineEnd(cursor, flow)
    if (to === from) break
    parts ??= new TextParts(first)
    parts.push(breaks === 1 ? ' ' : '\n'.repeat(breaks - 1))
    parts.push(text.slice(from, to))
    ended.line = cursor.line
    ended.brokeLine = false
  }
  return parts ? parts.finish() : first
}

/** Where the scalar ends on this line; the cursor moves behind the blanks that follow. */
function lineEnd(cursor: Cursor, flow: boolean): number {
  const { text } = cursor
  let at = cursor.at
  let end = at
  for (;;) {
    let code = text.charCodeAt(at)
    if (code <= SPACE) {
      while (code === SPACE || code === TAB) code = text.charCodeAt(++at)
      if (code === HASH || isBlankOrEnd(code)) break
    }
    if (code === COLON) {
      const next = text.charCodeAt(at + 1)
      if (isBlankOrEnd(next)) break
      if (flow && isFlowIndicator(next)) cursor.doubt('a colon before a bracket or comma')
    } else if (flow && (isFlowIndicator(code) || code === QUESTION)) break
    end = ++at
  }
  cursor.at = at
  return end
}

/** Steps over line breaks, blank lines and the indentation of the next; how many breaks. */
function skipBlankLines(cursor: Cursor, indent: number): number {
  let breaks = 0
  for (;;) {
    const { code } = cursor
    if (isBreak(code)) {
      cursor.skipBreak()
      breaks++
    } else if (isBlank(code)) {
      if (code === TAB && cursor.column < indent) cursor.fail('a tab in the indentation')
      cursor.at++
    } else return breaks
  }
}
