import type { Cursor } from './cursor.ts'
import { BLOCK_END } from './token.ts'
import type { TokenList } from './token-list.ts'

/** The blocks around the cursor, by their columns (0-based). */
export class Blocks {
  /** Column of the innermost one, -1 for none. */
  indent = -1
  private readonly outer: number[] = []
  private readonly cursor: Cursor
  private readonly tokens: TokenList

  constructor(cursor: Cursor, tokens: TokenList) {
    this.cursor = cursor
    this.tokens = tokens
  }

  /** Whether a block at this column is deeper than the innermost one; it is then that. */
  open(column: number): boolean {
    if (this.indent >= column) return false
    this.outer.push(this.indent)
    this.indent = column
    return true
  }

  /** Ends the blocks that are deeper than this column. */
  close(column: number): void {
    while (this.indent > column) {
      this.tokens.push(BLOCK_END, this.cursor.line, this.cursor.column + 1, 0, '')
      this.indent = this.outer.pop()!
    }
  }
}
