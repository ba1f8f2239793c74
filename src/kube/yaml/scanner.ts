import { COLON, END, HASH, isBlank, isBlankOrEnd, isBreak, SPACE, TAB } from './characters.ts'
import { Cursor } from './cursor.ts'
import { scanBlock } from './scan-block.ts'
import { scanPlain } from './scan-plain.ts'
import { scanName, scanTag } from './scan-properties.ts'
import { scanQuoted } from './scan-quoted.ts'
import { SimpleKeys } from './simple-keys.ts'
import { type Place, Steering } from './steering.ts'
import * as token from './token.ts'
import { TokenList } from './token-list.ts'
import type { Position } from './yaml-budget.ts'

/** What stands in a text: its tokens, and where the first comment is that steers kustomize. */
export interface Scanned {
  readonly tokens: TokenList
  readonly steered: Place | undefined
}

/**
 * The tokens of a text, by the rules of libyaml's scanner as go-yaml v3 has it: what begins a key is only known once its
 * colon comes, on the same line and within 1,024 characters. Throws `yaml-syntax`, `yaml-ambiguous` or `render-limits`.
 */
export function scan(text: string, position: Position): Scanned {
  const scanner = new Scanner(text, position)
  while (scanner.next());
  return { tokens: scanner.tokens, steered: scanner.steering.found }
}

const NULLS = ['', '~', 'null', 'Null', 'NULL']

class Scanner {
  readonly tokens: TokenList
  readonly steering = new Steering()
  private readonly cursor: Cursor
  private readonly keys: SimpleKeys
  /** Column of the block that the cursor is in, and of those around it. */
  private indent = -1
  private readonly indents: number[] = []

  constructor(text: string, position: Position) {
    this.cursor = new Cursor(text, position)
    this.tokens = new TokenList(position)
    this.keys = new SimpleKeys(this.cursor, this.tokens)
  }

  /** Reads one more; false at the end of the text. */
  next(): boolean {
    const { cursor } = this
    this.toToken()
    this.unroll(cursor.column)
    const { code } = cursor
    if (code === END) return this.end()
    if (cursor.column === 0 && cursor.atDocumentMarker()) {
      this.marker(code)
      return true
    }
    switch (code) {
      case 91: // [
        this.open(token.FLOW_LIST_START)
        return true
      case 123: // {
        this.open(token.FLOW_MAP_START)
        return true
      case 93: // ]
        this.close(token.FLOW_LIST_END)
        return true
      case 125: // }
        this.close(token.FLOW_MAP_END)
        return true
      case 44: // ,
        this.keys.remove()
        this.keys.allowed = true
        this.indicator(token.FLOW_ENTRY, 1)
        return true
      default:
        this.blockIndicatorOrValue(code)
        return true
    }
  }

  private blockIndicatorOrValue(code: number): void {
    const flow = this.keys.depth > 0
    const ends = isBlankOrEnd(this.cursor.text.charCodeAt(this.cursor.at + 1))
    if (code === 45 && ends) this.entry()
    else if (code === 63 && (flow || ends)) this.key()
    else if (code === COLON && (flow || ends)) this.value()
    else this.content(code, flow)
  }

  private content(code: number, flow: boolean): void {
    const { cursor, keys } = this
    const { line } = cursor
    const column = cursor.column + 1
    switch (code) {
      case 42: // *
      case 38: // &
        keys.save(this.indent)
        keys.allowed = false
        this.named(code === 42 ? token.ALIAS : token.ANCHOR, line, column, scanName(cursor))
        return
      case 33: // !
        keys.save(this.indent)
        keys.allowed = false
        this.named(token.TAG, line, column, scanTag(cursor))
        return
      case 39: // '
      case 34: // "
        this.quoted(code === 39 ? token.SINGLE_QUOTED : token.DOUBLE_QUOTED, line, column)
        return
      case 124: // |
      case 62: // >
        if (flow) break
        this.block(code === 124 ? token.LITERAL : token.FOLDED, line, column)
        return
      case HASH:
      case TAB:
      case 37: // %
      case 64: // @
      case 96: // `
        break
      default:
        this.plain(line, column, flow)
        return
    }
    cursor.fail(code === TAB ? 'a tab in the indentation' : 'a character that begins nothing')
  }

  private named(kind: number, line: number, column: number, value: string): void {
    this.tokens.push(kind, line, column, this.cursor.column + 1, value)
  }

  private quoted(kind: number, line: number, column: number): void {
    this.keys.save(this.indent)
    this.keys.allowed = false
    this.tokens.push(kind, line, column, 0, scanQuoted(this.cursor))
    if (this.keys.depth === 0) this.steering.afterScalar(this.cursor.line, this.tokens.count)
  }

  private plain(line: number, column: number, flow: boolean): void {
    this.keys.save(this.indent)
    const { value, brokeLine, endLine } = scanPlain(this.cursor, this.indent + 1, flow)
    this.keys.allowed = brokeLine
    this.tokens.push(token.PLAIN, line, column, 0, value)
    if (!flow && !NULLS.includes(value)) this.steering.afterScalar(endLine, this.tokens.count)
  }

  private block(kind: number, line: number, column: number): void {
    this.keys.remove()
    this.keys.allowed = true
    const comment = (): void => this.steering.comment(this.cursor, this.tokens.count)
    const { value, indent } = scanBlock(this.cursor, this.indent, comment)
    this.tokens.push(kind, line, column, indent, value)
  }

  private open(kind: number): void {
    this.keys.save(this.indent)
    this.keys.open()
    this.keys.allowed = true
    this.indicator(kind, 1)
  }

  private close(kind: number): void {
    this.keys.remove()
    this.keys.close()
    this.keys.allowed = false
    this.indicator(kind, 1)
  }

  private entry(): void {
    if (this.keys.depth === 0) this.beginBlock(token.BLOCK_LIST_START)
    this.keys.remove()
    this.keys.allowed = true
    this.indicator(token.BLOCK_ENTRY, 1)
  }

  private key(): void {
    if (this.keys.depth === 0) this.beginBlock(token.BLOCK_MAP_START)
    this.keys.remove()
    this.keys.allowed = this.keys.depth === 0
    this.indicator(token.KEY, 1)
  }

  private value(): void {
    const { keys, tokens } = this
    const begins = keys.take()
    if (begins >= 0) {
      tokens.beginKey(begins, keys.depth === 0 && this.roll(tokens.columns[begins]! - 1))
      keys.allowed = false
    } else {
      if (keys.depth === 0) this.beginBlock(token.BLOCK_MAP_START)
      keys.allowed = keys.depth === 0
    }
    this.indicator(token.VALUE, 1)
  }

  private marker(code: number): void {
    this.unroll(-1)
    this.keys.remove()
    this.keys.allowed = false
    this.indicator(code === 45 ? token.DOCUMENT_START : token.DOCUMENT_END, 3)
  }

  private end(): false {
    this.unroll(-1)
    this.keys.remove()
    this.indicator(token.STREAM_END, 0)
    return false
  }

  private indicator(kind: number, length: number): void {
    const { cursor } = this
    const column = cursor.column + 1
    cursor.at += length
    this.tokens.push(kind, cursor.line, column, column + length, '')
  }

  /** A block begins at the cursor unless it is in it already. Throws `yaml-syntax` where none may begin. */
  private beginBlock(kind: number): void {
    const { cursor } = this
    if (!this.keys.allowed) cursor.fail('a block where none may begin')
    if (this.roll(cursor.column)) this.tokens.push(kind, cursor.line, cursor.column + 1, 0, '')
  }

  /** Whether a block at this column is deeper than the one around it; it is then the one that the cursor is in. */
  private roll(column: number): boolean {
    if (this.indent >= column) return false
    this.indents.push(this.indent)
    this.indent = column
    return true
  }

  /** Ends the blocks that are deeper than this column. */
  private unroll(column: number): void {
    if (this.keys.depth > 0) return
    while (this.indent > column) {
      this.tokens.push(token.BLOCK_END, this.cursor.line, this.cursor.column + 1, 0, '')
      this.indent = this.indents.pop()!
    }
  }

  /** Steps over white space and comments. */
  private toToken(): void {
    const { cursor, keys } = this
    for (;;) {
      const { code } = cursor
      if (code === SPACE || (code === TAB && (keys.depth > 0 || !keys.allowed))) cursor.at++
      else if (code === HASH) this.comment()
      else if (isBreak(code)) {
        cursor.skipBreak()
        if (keys.depth === 0) keys.allowed = true
      } else return
    }
  }

  private comment(): void {
    const { cursor } = this
    const before = cursor.column === 0 || isBlank(cursor.text.charCodeAt(cursor.at - 1))
    if (!before) cursor.doubt('a comment without a space before it')
    this.steering.comment(cursor, this.tokens.count)
    cursor.skipLine()
  }
}
