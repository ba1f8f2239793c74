import type { Origin } from '../../origin.ts'
import { ANCHOR, BLOCK_END, BLOCK_ENTRY, BLOCK_LIST_START, BLOCK_MAP_START, KEY, TAG } from './token.ts'
import { BEGINS_KEY, BEGINS_MAP, type TokenList } from './token-list.ts'
import type { Position } from './yaml-budget.ts'

/** What may stand between a comment and the element of a list that it is about. */
const LEAD = new Set([BLOCK_LIST_START, BLOCK_END, BLOCK_ENTRY, ANCHOR, TAG])

/** Reads tokens one after another, those included that were only added to another. */
export class TokenReader {
  private at = 0
  private readonly tokens: TokenList
  private readonly text: string
  private readonly position: Position

  constructor(tokens: TokenList, text: string, position: Position) {
    this.tokens = tokens
    this.text = text
    this.position = position
  }

  /** The kind of the next token. */
  peek(): number {
    const kind = this.tokens.kind(this.at)
    if (kind < BEGINS_KEY) return kind
    return kind >= BEGINS_MAP ? BLOCK_MAP_START : KEY
  }

  skip(): void {
    const kind = this.tokens.kind(this.at)
    if (kind < BEGINS_KEY) this.at++
    else this.tokens.begin(this.at, kind >= BEGINS_MAP ? BEGINS_KEY : 0)
  }

  /** Whether the next token is one that was only added to another. */
  isImplied(): boolean {
    return this.tokens.kind(this.at) >= BEGINS_KEY
  }

  /** Steps over an anchor and a tag. */
  properties(): { anchor: string | undefined; tag: string | undefined } {
    let anchor: string | undefined
    let tag: string | undefined
    for (let kind = this.peek(); ; kind = this.peek()) {
      if (kind === ANCHOR && anchor === undefined) anchor = this.value()
      else if (kind === TAG && tag === undefined) tag = this.value()
      else return { anchor, tag }
      this.skip()
    }
  }

  /** The text of the next token. */
  value(): string {
    return this.tokens.values[this.at]!
  }

  /** The comments before and behind the next token that go-yaml may keep with it; more rather than less. */
  comments(): string | undefined {
    const { comments } = this.tokens
    if (comments.size === 0) return undefined
    const behind = comments.get(this.at + 1)
    const before: string[] = []
    for (let token = this.at; ; token--) {
      const comment = comments.get(token)
      if (comment) before.push(this.text.slice(comment.from, comment.to))
      if (token === 0 || !LEAD.has(this.tokens.kind(token - 1))) break
    }
    if (!behind && before.length === 0) return undefined
    return [...before.reverse(), ...(behind ? [this.text.slice(behind.from, behind.to)] : [])].join('\n')
  }

  /** Whether a comment stands between the next token and a colon before it, on the line of that. */
  isNoted(): boolean {
    const comment = this.tokens.comments.get(this.at)
    if (!comment) return false
    const line = this.text.slice(this.text.lastIndexOf('\n', comment.from) + 1, comment.from)
    return line.trimEnd().endsWith(':')
  }

  /** How far a block scalar is indented. */
  indent(): number {
    return this.tokens.extra(this.at)
  }

  /** Where the next token stands. */
  origin(): Origin {
    return this.position(this.tokens.line(this.at), this.tokens.column(this.at))
  }

  /** Where an empty value behind the token before would stand. */
  originBehind(): Origin {
    return this.position(this.tokens.line(this.at - 1), this.tokens.extra(this.at - 1))
  }
}
