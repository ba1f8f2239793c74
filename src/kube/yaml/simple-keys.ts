import type { Cursor } from './cursor.ts'
import type { TokenList } from './token-list.ts'

const NONE = -1
const LONGEST = 1024

/** The tokens that may turn out to begin a key, one for each pair of brackets around the cursor. */
export class SimpleKeys {
  /** Whether a key may begin at the cursor. */
  allowed = true
  /** How many brackets are open. */
  depth = 0
  private readonly cursor: Cursor
  private readonly tokens: TokenList
  private readonly candidates: number[] = [NONE]
  private readonly required: boolean[] = [false]

  constructor(cursor: Cursor, tokens: TokenList) {
    this.cursor = cursor
    this.tokens = tokens
  }

  /** The token that comes next may begin a key; it must where it stands at the column of its block. */
  save(indent: number): void {
    if (!this.allowed) return
    this.remove()
    this.candidates[this.depth] = this.tokens.count
    this.required[this.depth] = this.depth === 0 && indent === this.cursor.column
  }

  /** The candidate was none. Throws `yaml-syntax` where it must have been one. */
  remove(): void {
    const candidate = this.candidates[this.depth]!
    if (candidate !== NONE && this.required[this.depth]) this.fail(candidate)
    this.candidates[this.depth] = NONE
  }

  /** At a colon: the token that begins its key, -1 for none. Throws `yaml-syntax` for one that is too far away. */
  take(): number {
    const candidate = this.candidates[this.depth]!
    if (candidate === NONE) return NONE
    this.candidates[this.depth] = NONE
    if (this.isNear(candidate)) return candidate
    return this.required[this.depth] ? this.fail(candidate) : NONE
  }

  open(): void {
    this.depth++
    this.candidates.push(NONE)
    this.required.push(false)
  }

  close(): void {
    if (this.depth === 0) return
    this.depth--
    this.candidates.pop()
    this.required.pop()
  }

  private isNear(candidate: number): boolean {
    const { cursor, tokens } = this
    if (tokens.line(candidate) !== cursor.line) return false
    const start = cursor.lineStart + tokens.column(candidate) - 1
    const units = cursor.at - start
    if (units <= LONGEST) return true
    return units <= 2 * LONGEST && [...cursor.text.slice(start, cursor.at)].length <= LONGEST
  }

  private fail(candidate: number): never {
    const origin = this.cursor.position(this.tokens.line(candidate), this.tokens.column(candidate))
    return this.cursor.fail('a key without a colon', origin)
  }
}
