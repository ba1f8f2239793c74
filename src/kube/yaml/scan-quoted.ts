import { END, isBlank, isBreak } from './characters.ts'
import type { Cursor } from './cursor.ts'
import { ESCAPES } from './escapes.ts'
import { TextParts } from './text-parts.ts'

const SINGLE = 39
const DOUBLE = 34
const BACKSLASH = 92

/**
 * Reads the quoted scalar at the cursor as libyaml does, lines folded; the cursor is then behind its quote. Throws
 * `yaml-syntax` for one without end and for escapes that go-yaml does not know, `yaml-ambiguous` for the one of them
 * (`\/`) that JSON has.
 */
export function scanQuoted(cursor: Cursor): string {
  const { text, line, column } = cursor
  const quote = cursor.code
  let parts: TextParts | undefined
  let from = ++cursor.at
  for (;;) {
    const code = text.charCodeAt(cursor.at)
    if (code === quote) {
      if (quote === DOUBLE || text.charCodeAt(cursor.at + 1) !== SINGLE) break
      parts ??= new TextParts('')
      parts.push(text.slice(from, ++cursor.at))
      from = ++cursor.at
    } else if (code === BACKSLASH && quote === DOUBLE) {
      parts ??= new TextParts('')
      parts.push(text.slice(from, cursor.at))
      parts.push(escaped(cursor))
      from = cursor.at
    } else if (isBreak(code)) {
      parts ??= new TextParts('')
      parts.push(text.slice(from, lastText(text, from, cursor.at)))
      const breaks = skipBreaks(cursor)
      parts.push(breaks === 1 ? ' ' : '\n'.repeat(breaks - 1))
      from = cursor.at
    } else if (code === END) {
      cursor.fail('a quote is not closed', cursor.position(line, column + 1))
    } else cursor.at++
  }
  const last = text.slice(from, cursor.at++)
  return parts ? parts.finish() + last : last
}

/** Where the text before a line break ends, without the blanks before the break. */
function lastText(text: string, from: number, to: number): number {
  let end = to
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--
  return end
}

/** Steps over line breaks and blanks; how many breaks. */
function skipBreaks(cursor: Cursor): number {
  let breaks = 0
  for (;;) {
    const { code } = cursor
    if (isBreak(code)) {
      cursor.skipBreak()
      breaks++
      if (cursor.atDocumentMarker()) cursor.fail('a document marker inside a quoted text')
    } else if (isBlank(code)) cursor.at++
    else return breaks
  }
}

const LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** What the escape at the cursor stands for; the cursor moves behind it. */
function escaped(cursor: Cursor): string {
  const { text } = cursor
  const name = text.charAt(cursor.at + 1)
  if (isBreak(name.charCodeAt(0))) {
    cursor.at++
    return '\n'.repeat(skipBreaks(cursor) - 1)
  }
  const short = ESCAPES.get(name)
  if (short !== undefined) {
    cursor.at += 2
    return short
  }
  if (name === '/') cursor.doubt('an escaped slash')
  if (name === 'N') refuseEscape(cursor)
  if (name === 'L' || name === 'P') cursor.doubt('an escape of an unusual line break')
  const length = Object.hasOwn(LENGTHS, name) ? LENGTHS[name]! : cursor.fail('an unknown escape sequence')
  const digits = text.slice(cursor.at + 2, cursor.at + 2 + length)
  const code = /^[0-9a-fA-F]+$/.test(digits) && digits.length === length ? Number.parseInt(digits, 16) : -1
  if (code < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
    cursor.fail('an escape sequence that is not a character')
  // kustomize writes it as it is, and then fails to read it, or reads spaces behind it
  if ((code >= 0x7f && code <= 0x9f) || code === 0xfffe || code === 0xffff) refuseEscape(cursor)
  if (code === 0x2028 || code === 0x2029) cursor.doubt('an escape of an unusual line break')
  cursor.at += 2 + length
  return String.fromCodePoint(code)
}

function refuseEscape(cursor: Cursor): never {
  return cursor.doubt('an escape of a control character')
}
