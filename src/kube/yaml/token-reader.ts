import type { Origin } from '../origin.ts'
import { ANCHOR, BEGINS_KEY, BEGINS_MAP, BLOCK_MAP_START, KEY, TAG } from './token.ts'
import type { TokenList } from './token-list.ts'
import type { Position } from './yaml-budget.ts'

/** Reads tokens one after another, those that only a flag tells of included. */
export class TokenReader {
  private at = 0
  private readonly tokens: TokenList
  private readonly position: Position

  constructor(tokens: TokenList, position: Position) {
    this.tokens = tokens
    this.position = position
  }

  /** The kind of the next token. */
  peek(): number {
    const flags = this.tokens.flags[this.at]!
    if (flags === 0) return this.tokens.kinds[this.at]!
    return flags >= BEGINS_MAP ? BLOCK_MAP_START : KEY
  }

  skip(): void {
    const flags = this.tokens.flags[this.at]!
    if (flags === 0) this.at++
    else this.tokens.flags[this.at] = flags >= BEGINS_MAP ? BEGINS_KEY : 0
  }

  /** Whether the next token is one that only a flag tells of. */
  isImplied(): boolean {
    return this.tokens.flags[this.at] !== 0
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

  /** How far a block scalar is indented. */
  indent(): number {
    return this.tokens.extras[this.at]!
  }

  /** Where the next token stands. */
  origin(): Origin {
    return this.position(this.tokens.lines[this.at]!, this.tokens.columns[this.at]!)
  }

  /** Where an empty value behind the token before would stand. */
  originBehind(): Origin {
    return this.position(this.tokens.lines[this.at - 1]!, this.tokens.extras[this.at - 1]!)
  }
}
