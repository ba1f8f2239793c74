import { BEGINS_KEY, BEGINS_MAP, DOCUMENT_START } from './token.ts'
import { type Position, refuseOver, YAML_LIMITS } from './yaml-budget.ts'

/** The tokens of a text, a column of numbers for each property: far smaller than objects, and as fast to read. */
export class TokenList {
  count = 0
  kinds = new Uint8Array(256)
  flags = new Uint8Array(256)
  /** 1-based. */
  lines = new Int32Array(256)
  /** 1-based, in UTF-16 units. */
  columns = new Int32Array(256)
  /** Column behind the token where an empty value would stand; of a block scalar, how far it is indented. */
  extras = new Int32Array(256)
  /** The text of a scalar, anchor, alias or tag. */
  readonly values: string[] = []
  private readonly position: Position
  private documents = 0
  private documentFrom = 0

  /** `position` says where a limit was exceeded. */
  constructor(position: Position) {
    this.position = position
  }

  /** Throws `render-limits` where the text has more than the limits. */
  push(kind: number, line: number, column: number, extra: number, value: string): void {
    const at = this.count++
    if (at === this.kinds.length) this.grow()
    if (at >= YAML_LIMITS.fileTokens) refuseOver('fileTokens', this.position(1, 1))
    if (kind === DOCUMENT_START) {
      this.documentFrom = at
      if (++this.documents > YAML_LIMITS.documents) refuseOver('documents', this.position(line, column))
    }
    if (at - this.documentFrom >= YAML_LIMITS.documentTokens) refuseOver('documentTokens', this.position(1, 1))
    this.kinds[at] = kind
    this.lines[at] = line
    this.columns[at] = column
    this.extras[at] = extra
    this.values.push(value)
  }

  /** The token was the beginning of an implicit key, and of a map if `map`. */
  beginKey(token: number, map: boolean): void {
    this.flags[token] = map ? BEGINS_KEY | BEGINS_MAP : BEGINS_KEY
  }

  private grow(): void {
    const size = this.kinds.length * 2
    const bytes = (old: Uint8Array): Uint8Array<ArrayBuffer> => {
      const grown = new Uint8Array(size)
      grown.set(old)
      return grown
    }
    const numbers = (old: Int32Array): Int32Array<ArrayBuffer> => {
      const grown = new Int32Array(size)
      grown.set(old)
      return grown
    }
    this.kinds = bytes(this.kinds)
    this.flags = bytes(this.flags)
    this.lines = numbers(this.lines)
    this.columns = numbers(this.columns)
    this.extras = numbers(this.extras)
  }
}
