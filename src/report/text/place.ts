import { withoutLogins } from '../../message/without-logins.ts'
import type { SourceLine } from '../../origin.ts'

/** `file:line`, with the repository before it where that is not `here`; '' for no place at all. Plain text, not escaped. */
export function placeOf(origin: SourceLine, here: string): string {
  if (origin.file === '') return ''
  const place = origin.line > 0 ? `${origin.file}:${origin.line}` : origin.file
  return origin.repository === here || origin.repository === '' ? place : `${shortUrl(origin.repository)} ${place}`
}

/** An address without its scheme and logins. */
export function shortUrl(url: string): string {
  return withoutLogins(url).replace(/^https:\/\//, '')
}
