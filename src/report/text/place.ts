import type { SourceLine } from '../../base/origin.ts'
import { withoutLogins } from '../../base/visible.ts'

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

/** The address of a line at a commit on GitHub; undefined for a repository that is not on the web. */
export function fileAddress(url: string, commit: string, file: string, line: number): string | undefined {
  if (!isAddress(url) || !/^[\da-f]{40,64}$/.test(commit)) return undefined
  const path = file.split('/').map(encode).join('/')
  return `${url}/blob/${commit}/${path}${line > 0 ? `#L${line}` : ''}`
}

/** Half of a surrogate pair cannot be encoded; git may have it in a name all the same. */
function encode(part: string): string {
  return encodeURIComponent(part.toWellFormed())
}

/** Tenants choose the names of sources: a link leads to the web or nowhere. */
export function isAddress(url: string): boolean {
  return /^https:\/\/[\w.-]+(?::\d{1,5})?(?:\/[\w.~-]+)+$/.test(url)
}

/** A scalar on one line. */
const TOKEN = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#,[\]{}]+)/

/** The value at a 1-based column of a line; undefined behind its end. */
export function markedValue(
  line: string,
  column: number,
): { readonly start: number; readonly end: number } | undefined {
  const start = Math.max(0, column - 1)
  if (start >= line.length) return undefined
  const value = TOKEN.exec(line.slice(start))?.[0] ?? line.slice(start, start + 1)
  return { start, end: start + value.length }
}
