import {
  COLON,
  Cursor,
  END,
  HASH,
  isBlank,
  isBlankOrEnd,
  isBreak,
  isBreakOrEnd,
  isFlowIndicator,
  isWordCharacter,
  SPACE,
  TAB,
} from './cursor.ts'

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
      if (code === TAB && cursor.column < indent) cursor.fail('a tab in the indentation; use spaces')
      cursor.at++
    } else return breaks
  }
}

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

/** The value of the quoted scalar that a text begins with, and what stands behind its quote; throws as `scanQuoted`. */
export function quotedIn(text: string): { readonly value: string; readonly rest: string } {
  const cursor = new Cursor(text, (line, column) => ({ repository: '', file: '', line, column }))
  return { value: scanQuoted(cursor), rest: cursor.text.slice(cursor.at, -1) }
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

/** What a letter behind a backslash stands for in double quotes, where no YAML reader disagrees (YAML 1.1 and 1.2, 5.7). */
const ESCAPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '0': '\0',
    a: '\x07',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\x1b',
    ' ': ' ',
    '"': '"',
    "'": "'",
    '\\': '\\',
    _: '\u00a0',
  }),
)

const PLUS = 43
const MINUS = 45
const GREATER = 62

/** A block scalar, and how many spaces stand before each of its lines. */
interface BlockScalar {
  readonly value: string
  readonly indent: number
}

/**
 * Reads the block scalar at the cursor as libyaml does; the cursor is then at the first line behind it. `parent` is the
 * column of the block around it, -1 for none; `comment` is called at a comment behind the sign. Throws `yaml-syntax` for
 * a wrong header, and for a tab that indents.
 */
export function scanBlock(cursor: Cursor, parent: number, comment: () => void): BlockScalar {
  const literal = cursor.code !== GREATER
  cursor.at++
  const { chomp, increment } = header(cursor, comment)
  const lines = new BlockLines(cursor, parent, increment)
  const parts = new TextParts('')
  let broke = false
  let wasBlank = false
  let breaks = lines.toNext()
  while (cursor.column === lines.indent && cursor.code !== END) {
    const blank = isBlank(cursor.code)
    if (broke && (literal || wasBlank || blank)) parts.push('\n')
    else if (broke && breaks === 0) parts.push(' ')
    if (breaks > 0) parts.push('\n'.repeat(breaks))
    wasBlank = blank
    const from = cursor.at
    cursor.skipLine()
    parts.push(cursor.text.slice(from, cursor.at))
    // a text that ends with the file has no line break that the file does not have
    broke = isBreak(cursor.code)
    if (broke) cursor.skipBreak()
    breaks = lines.toNext()
  }
  if (chomp !== MINUS && broke) parts.push('\n')
  if (chomp === PLUS && breaks > 0) parts.push('\n'.repeat(breaks))
  return { value: parts.finish(), indent: lines.indent }
}

/** What stands behind `|` or `>`, to the end of the line. */
function header(cursor: Cursor, comment: () => void): { chomp: number; increment: number } {
  let chomp = 0
  let increment = 0
  for (;;) {
    const { code } = cursor
    if (chomp === 0 && (code === PLUS || code === MINUS)) chomp = code
    else if (increment === 0 && code >= 48 && code <= 57) {
      increment = code - 48
      if (increment === 0) cursor.fail('an indentation of 0')
    } else break
    cursor.at++
  }
  while (isBlank(cursor.code)) cursor.at++
  if (cursor.code === HASH) {
    comment()
    cursor.skipLine()
  }
  if (!isBreakOrEnd(cursor.code)) cursor.fail('text after the | or > of a text block')
  if (isBreak(cursor.code)) cursor.skipBreak()
  return { chomp, increment }
}

class BlockLines {
  /** 0 until the first line that is not blank tells it. */
  indent: number
  private readonly cursor: Cursor
  private readonly least: number

  constructor(cursor: Cursor, parent: number, increment: number) {
    this.cursor = cursor
    this.least = Math.max(parent + 1, 1)
    this.indent = increment === 0 ? 0 : Math.max(parent, 0) + increment
  }

  /** Steps over blank lines and the indentation of the next; how many line breaks. */
  toNext(): number {
    const { cursor } = this
    let breaks = 0
    let widest = 0
    for (;;) {
      while ((this.indent === 0 || cursor.column < this.indent) && cursor.code === SPACE) cursor.at++
      if (cursor.column > widest) widest = cursor.column
      if ((this.indent === 0 || cursor.column < this.indent) && cursor.code === TAB) {
        cursor.fail('a tab in the indentation; use spaces')
      }
      if (!isBreak(cursor.code)) break
      cursor.skipBreak()
      breaks++
    }
    if (this.indent === 0) this.indent = Math.max(widest, this.least)
    return breaks
  }
}

/** What may follow a name directly, as libyaml has it. */
const AFTER_NAME = '?:,]}%@`'

/** Reads the name of the anchor or alias at the cursor. Throws `yaml-syntax` where there is none. */
export function scanName(cursor: Cursor): string {
  const from = ++cursor.at
  while (isWordCharacter(cursor.code)) cursor.at++
  const follows = isBlankOrEnd(cursor.code) || AFTER_NAME.includes(cursor.text.charAt(cursor.at))
  if (cursor.at === from || !follows) cursor.fail('an anchor or alias without a name')
  return cursor.text.slice(from, cursor.at)
}

/** Tags on which readers agree, in both spellings. */
const TAGS: ReadonlyMap<string, string> = new Map(
  ['str', 'merge'].flatMap(name => [
    [`!!${name}`, name],
    [`!<tag:yaml.org,2002:${name}>`, name],
  ]),
)

/** Reads the tag at the cursor: `str`, `merge`, or '' for all others. */
export function scanTag(cursor: Cursor): string {
  const from = cursor.at
  while (!isBlankOrEnd(cursor.code)) cursor.at++
  return TAGS.get(cursor.text.slice(from, cursor.at)) ?? ''
}

const MANY = 1024

/** Puts a text of many short parts together, of which only so many are kept apart at a time. */
export class TextParts {
  private parts: string[] = []
  private whole: string

  constructor(first: string) {
    this.whole = first
  }

  push(part: string): void {
    if (this.parts.push(part) < MANY) return
    this.whole += this.parts.join('')
    this.parts = []
  }

  finish(): string {
    return this.whole + this.parts.join('')
  }
}
