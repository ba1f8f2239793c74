import { Blocks } from './blocks.ts'
import { COLON, END, HASH, isBlankOrEnd, isBreak, SPACE, TAB } from './characters.ts'
import { Comments, type LineColumn } from './comments.ts'
import { Cursor } from './cursor.ts'
import { scanBlock } from './scan-block.ts'
import { type PlainEnd, scanPlain } from './scan-plain.ts'
import { scanName, scanTag } from './scan-properties.ts'
import { scanQuoted } from './scan-quoted.ts'
import { SimpleKeys } from './simple-keys.ts'
import * as token from './token.ts'
import { BEGINS_KEY, BEGINS_MAP, TokenList } from './token-list.ts'
import type { Position } from './yaml-budget.ts'

/** What stands in a text: its tokens, and where the first comment is that steers kustomize. */
interface Scanned {
  readonly tokens: TokenList
  readonly steered: LineColumn | undefined
}

/**
 * The tokens of a text, by the rules of libyaml's scanner as go-yaml v3 has it: what begins a key is only known once its
 * colon comes, on the same line and within 1,024 characters. Throws `yaml-syntax`, `yaml-ambiguous` or `render-limits`.
 */
export function scan(text: string, position: Position): Scanned {
  const scanner = new Scanner(text, position)
  while (scanner.next());
  return { tokens: scanner.tokens, steered: scanner.comments.steered }
}

class Scanner {
  readonly tokens: TokenList
  readonly comments: Comments
  private readonly cursor: Cursor
  private readonly keys: SimpleKeys
  private readonly blocks: Blocks
  private readonly plainEnd: PlainEnd = { line: 0, brokeLine: false }

  constructor(text: string, position: Position) {
    this.cursor = new Cursor(text, position)
    this.tokens = new TokenList(text.length, position)
    this.keys = new SimpleKeys(this.cursor, this.tokens)
    this.blocks = new Blocks(this.cursor, this.tokens)
    this.comments = new Comments(this.cursor, this.tokens)
  }

  /** Reads one more; false at the end of the text. */
  next(): boolean {
    const { cursor } = this
    this.toToken()
    if (this.keys.depth === 0) this.blocks.close(cursor.column)
    const { code } = cursor
    // most tokens begin with a letter
    if (code >= 97 && code <= 122) this.plain()
    else if (code === END) return this.end()
    else if (cursor.column === 0 && cursor.atDocumentMarker()) this.marker(code)
    else this.indicatorOrContent(code)
    return true
  }

  private indicatorOrContent(code: number): void {
    const flow = this.keys.depth > 0
    const ends = isBlankOrEnd(this.cursor.text.charCodeAt(this.cursor.at + 1))
    if (code === 45 && ends) this.entry()
    else if (code === COLON && (flow || ends)) this.value()
    else if (code === 63 && (flow || ends)) this.key()
    else if (code === 91) this.open(token.FLOW_LIST_START)
    else if (code === 123) this.open(token.FLOW_MAP_START)
    else if (code === 93) this.close(token.FLOW_LIST_END)
    else if (code === 125) this.close(token.FLOW_MAP_END)
    else if (code === 44) this.comma()
    else this.content(code, flow)
  }

  private content(code: number, flow: boolean): void {
    switch (code) {
      case 42: // *
        this.named(token.ALIAS)
        return
      case 38: // &
        this.named(token.ANCHOR)
        return
      case 33: // !
        this.named(token.TAG)
        return
      case 39: // '
        this.quoted(token.SINGLE_QUOTED)
        return
      case 34: // "
        this.quoted(token.DOUBLE_QUOTED)
        return
      case 124: // |
      case 62: // >
        if (flow) break
        this.block(code === 124 ? token.LITERAL : token.FOLDED)
        return
      case TAB:
        this.cursor.fail('a tab in the indentation')
        return
      case 37: // %
      case 64: // @
      case 96: // `
        break
      default:
        this.plain()
        return
    }
    this.cursor.fail('an unexpected character; quote the value')
  }

  private named(kind: number): void {
    const { cursor, keys } = this
    keys.save(this.blocks.indent)
    keys.allowed = false
    const column = cursor.column + 1
    const value = kind === token.TAG ? scanTag(cursor) : scanName(cursor)
    this.tokens.push(kind, cursor.line, column, cursor.column + 1, value)
  }

  private quoted(kind: number): void {
    const { cursor, keys } = this
    keys.save(this.blocks.indent)
    keys.allowed = false
    const { line, column } = cursor
    const value = scanQuoted(cursor)
    this.tokens.push(kind, line, column + 1, cursor.line, value)
  }

  private plain(): void {
    const { cursor, keys, plainEnd } = this
    keys.save(this.blocks.indent)
    const { line, column } = cursor
    const value = scanPlain(cursor, this.blocks.indent + 1, keys.depth > 0, plainEnd)
    keys.allowed = plainEnd.brokeLine
    this.tokens.push(token.PLAIN, line, column + 1, plainEnd.line, value)
  }

  private block(kind: number): void {
    const { cursor, keys } = this
    keys.remove()
    keys.allowed = true
    const { line, column } = cursor
    const { value, indent } = scanBlock(cursor, this.blocks.indent, () => this.comments.behindBlockSign())
    this.tokens.push(kind, line, column + 1, indent, value)
  }

  private open(kind: number): void {
    this.keys.save(this.blocks.indent)
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

  private comma(): void {
    this.keys.remove()
    this.keys.allowed = true
    this.indicator(token.FLOW_ENTRY, 1)
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
      const map = keys.depth === 0 && this.blocks.open(tokens.column(begins) - 1)
      tokens.begin(begins, map ? BEGINS_MAP : BEGINS_KEY)
      keys.allowed = false
    } else {
      if (keys.depth === 0) this.beginBlock(token.BLOCK_MAP_START)
      keys.allowed = keys.depth === 0
    }
    this.indicator(token.VALUE, 1)
  }

  private marker(code: number): void {
    if (this.keys.depth === 0) this.blocks.close(-1)
    this.keys.remove()
    this.keys.allowed = false
    this.indicator(code === 45 ? token.DOCUMENT_START : token.DOCUMENT_END, 3)
  }

  private end(): false {
    if (this.keys.depth === 0) this.blocks.close(-1)
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
    if (!this.keys.allowed) cursor.fail('unexpected indentation or list')
    if (this.blocks.open(cursor.column)) this.tokens.push(kind, cursor.line, cursor.column + 1, 0, '')
  }

  /** Steps over white space and comments. */
  private toToken(): void {
    const { cursor, keys } = this
    for (;;) {
      const { code } = cursor
      if (code === SPACE || (code === TAB && (keys.depth > 0 || !keys.allowed))) cursor.at++
      else if (code === HASH) this.comments.skip(keys.depth > 0)
      else if (isBreak(code)) {
        cursor.skipBreak()
        if (keys.depth === 0) keys.allowed = true
      } else return
    }
  }
}
