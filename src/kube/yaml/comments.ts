import { HASH, isBlank } from './characters.ts'
import type { Cursor } from './cursor.ts'
import { isSchema } from './is-schema.ts'
import { ANCHOR, DOUBLE_QUOTED, FOLDED, LITERAL, PLAIN, SINGLE_QUOTED, TAG } from './token.ts'
import { BEGINS_KEY, type TokenList } from './token-list.ts'

/** 1-based. */
export interface LineColumn {
  readonly line: number
  readonly column: number
}

const BRACE = 123
/** Where a brace behind so many spaces is not looked for, it might be there. */
const FAR = 64
const NULLS = ['', '~', 'null', 'Null', 'NULL']

/** What comments do besides explaining: some steer kustomize, and some it moves into a value. */
export class Comments {
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
