import { END, HASH, isBlank, isBreak, isBreakOrEnd, SPACE, TAB } from './characters.ts'
import type { Cursor } from './cursor.ts'
import { TextParts } from './text-parts.ts'

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
        cursor.fail('a tab in the indentation')
      }
      if (!isBreak(cursor.code)) break
      cursor.skipBreak()
      breaks++
    }
    if (this.indent === 0) this.indent = Math.max(widest, this.least)
    return breaks
  }
}
