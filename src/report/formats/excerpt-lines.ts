import { redactLines } from '../../message/redact.ts'
import { visible } from '../../message/visible.ts'
import type { Finding } from '../../rules/model/finding.ts'
import type { FormatContext } from './format-context.ts'

const WIDEST = 160
/** A scalar on one line. */
const TOKEN = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#,[\]{}]+)/

/**
 * The source line of the offending value, with carets below the value. Shows nothing from a Secret and no line with a credential,
 * because the output may go to the log of a CI job.
 */
export function excerptLines({ origin, object }: Finding, excerpt: FormatContext['excerpt']): string[] {
  const text = excerpt?.(origin)?.replace(/\r$/, '')
  if (text === undefined || text.length > WIDEST || object.kind === 'Secret' || redactLines([text])[0] !== text)
    return []
  const start = Math.max(0, origin.column - 1)
  if (start >= text.length) return []
  const before = visible(text.slice(0, start))
  const value = TOKEN.exec(text.slice(start))?.[0] ?? text.slice(start, start + 1)
  const gutter = String(origin.line)
  return [
    `  ${gutter} | ${visible(text, WIDEST * 2)}`,
    `  ${' '.repeat(gutter.length)} | ${' '.repeat(before.length)}${'^'.repeat(Math.max(1, visible(value).length))}`,
  ]
}
