import { redactLines } from '../../message/redact.ts'
import { visible } from '../../message/visible.ts'
import type { Finding } from '../../rules/model/finding.ts'
import { markedValue } from '../text/marked-value.ts'
import type { FormatContext } from './format-context.ts'

const WIDEST = 160

/**
 * The source line of the offending value, with carets below the value. Shows nothing from a Secret and no line with a credential,
 * because the output may go to the log of a CI job.
 */
export function excerptLines({ origin, object }: Finding, excerpt: FormatContext['excerpt']): string[] {
  const text = excerpt?.(origin)?.replace(/\r$/, '')
  if (text === undefined || text.length > WIDEST || object.kind === 'Secret' || redactLines([text])[0] !== text)
    return []
  const marked = markedValue(text, origin.column)
  if (!marked) return []
  const before = visible(text.slice(0, marked.start))
  const value = text.slice(marked.start, marked.end)
  const gutter = String(origin.line)
  return [
    `  ${gutter} | ${visible(text, WIDEST * 2)}`,
    `  ${' '.repeat(gutter.length)} | ${' '.repeat(before.length)}${'^'.repeat(Math.max(1, visible(value).length))}`,
  ]
}
