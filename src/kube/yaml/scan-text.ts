import { COLON, Cursor, END, HASH, isBlank, isBlankOrEnd, isBreak, type Position, SPACE, TAB } from './cursor.ts'
import { type PlainEnd, scanBlock, scanName, scanPlain, scanQuoted, scanTag } from './scan-scalars.ts'
import * as token from './tokens.ts'
import {
  ANCHOR,
  BEGINS_KEY,
  BEGINS_MAP,
  Blocks,
  DOUBLE_QUOTED,
  FOLDED,
  LITERAL,
  PLAIN,
  SINGLE_QUOTED,
  SimpleKeys,
  TAG,
  TokenList,
} from './tokens.ts'

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
        this.cursor.fail('a tab in the indentation; use spaces')
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
    if (!this.keys.allowed) {
      const isInValue = cursor.text.slice(cursor.lineStart, cursor.at).includes(': ')
      cursor.fail(isInValue ? 'a key or list inside a value; quote the value' : 'unexpected indentation or list')
    }
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

/** 1-based. */
interface LineColumn {
  readonly line: number
  readonly column: number
}

const BRACE = 123
/** Where a brace behind so many spaces is not looked for, it might be there. */
const FAR = 64
const NULLS = ['', '~', 'null', 'Null', 'NULL']

/** What comments do besides explaining: some steer kustomize, and some it moves into a value. */
class Comments {
  /** The first comment that decides how a strategic merge patch merges a list. */
  steered: LineColumn | undefined
  private braces = 0
  private readonly cursor: Cursor
  private readonly tokens: TokenList
  /** Behind how many tokens a comment of an anchor or tag stands, of which no text is known yet; -1 for none. */
  private pending = -1

  constructor(cursor: Cursor, tokens: TokenList) {
    this.cursor = cursor
    this.tokens = tokens
  }

  /** Steps over the comment at the cursor. Throws `yaml-ambiguous` where it would change a value. */
  skip(flow: boolean): void {
    const { cursor } = this
    const apart = cursor.column === 0 || isBlank(cursor.text.charCodeAt(cursor.at - 1))
    if (!apart) cursor.doubt('a comment without a space before it')
    if (this.movesIntoText())
      cursor.doubt('a comment after text with blank lines, which kustomize moves into that text')
    this.see(flow)
    cursor.skipLine()
  }

  /** The cursor is at a comment behind the sign of a text block. Throws `yaml-ambiguous` where it would change it. */
  behindBlockSign(): void {
    if (this.isPending())
      this.cursor.doubt('two comments before a text block, and kustomize moves one of them into the block')
    this.see(false)
  }

  private see(flow: boolean): void {
    this.remember()
    const kind = this.lastKind()
    if (kind === ANCHOR || kind === TAG) this.pending = this.tokens.count
    if (this.steered || (!flow && this.isOfValue()) || !this.mayBeSchema() || !isSchema(this.cursor)) return
    if (this.isBelowAnother()) return
    this.steered = { line: this.cursor.line, column: this.cursor.column + 1 }
  }

  private remember(): void {
    const { count, comments } = this.tokens
    const { text, at } = this.cursor
    const feed = text.indexOf('\n', at)
    const to = feed < 0 ? text.length - 1 : feed
    const before = comments.get(count)
    if (before) before.to = to
    else comments.set(count, { from: at, to })
  }

  /** Looking at one costs, so that their number has a limit. Throws `yaml-ambiguous` beyond it. */
  private mayBeSchema(): boolean {
    const { at, text } = this.cursor
    let start = at + 1
    for (let code = HASH; start < at + FAR && (code === HASH || isBlank(code)); start++) code = text.charCodeAt(start)
    if (start < at + FAR && text.charCodeAt(start - 1) !== BRACE) return false
    if (++this.braces > 10_000) this.cursor.doubt('more than 10,000 comments that start with a brace')
    return true
  }

  /** go-yaml keeps the comment of an anchor until there is a text to put it at. */
  private isPending(): boolean {
    if (this.pending < 0) return false
    for (let token = this.pending; token < this.tokens.count; token++) {
      if (this.tokens.kind(token) % BEGINS_KEY >= PLAIN) this.pending = -1
    }
    return this.pending >= 0
  }

  /** A comment behind a value on its line (an image policy marker) is that value's own, and steers nothing. */
  private isOfValue(): boolean {
    const { tokens } = this
    const kind = this.lastKind()
    if (kind !== PLAIN && kind !== SINGLE_QUOTED && kind !== DOUBLE_QUOTED) return false
    const last = tokens.count - 1
    return tokens.extra(last) === this.cursor.line && !(kind === PLAIN && NULLS.includes(tokens.values[last]!))
  }

  /** go-yaml reads a comment line right below another as one comment with it, which is not a JSON object then. */
  private isBelowAnother(): boolean {
    const { text, at, column } = this.cursor
    const start = at - column
    const above = text.lastIndexOf('\n', start - 2) + 1
    const blanks = ' '.repeat(column)
    return start > 0 && text.startsWith(blanks, start) && text.startsWith(`${blanks}#`, above)
  }

  /**
   * kustomize writes a text and reads it back: go-yaml's emitter then adds a line break to a text block that ends with
   * blank lines, and may write the comment into a plain text that has line breaks.
   */
  private movesIntoText(): boolean {
    const kind = this.lastKind()
    if (kind !== PLAIN && kind !== LITERAL && kind !== FOLDED) return false
    const value = this.tokens.values[this.tokens.count - 1]!
    return kind === PLAIN ? value.includes('\n') : value.endsWith('\n\n') || value === '\n'
  }

  private lastKind(): number {
    return this.tokens.count > 0 ? this.tokens.kind(this.tokens.count - 1) : -1
  }
}

/** Characters of a schema that are looked at: those of OpenAPI extensions have fewer than a hundred. */
const LONGEST = 10_000

/**
 * Whether kustomize reads the comment at the cursor as a schema: a JSON object that is not empty (kyaml's fieldmeta).
 * Throws `yaml-ambiguous` for one that is too long to be looked at.
 */
function isSchema(cursor: Cursor): boolean {
  const { text } = cursor
  let at = cursor.at
  while (text.charCodeAt(at) === 35) at++
  while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++
  if (text.charCodeAt(at) !== 123) return false
  const end = text.indexOf('\n', at)
  // no JSON object ends otherwise, and a refused parse is slow
  if (
    !text
      .slice(at, end < 0 ? -1 : end)
      .trimEnd()
      .endsWith('}')
  )
    return false
  if ((end < 0 ? text.length : end) - at > LONGEST)
    cursor.doubt(`a comment in braces of more than ${LONGEST} characters`)
  try {
    return Object.keys(JSON.parse(text.slice(at, end < 0 ? -1 : end)) as object).length > 0
  } catch {
    return false // no JSON: a comment like any other
  }
}
