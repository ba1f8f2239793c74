import { DOCUMENT_START } from './token.ts'
import { type Position, refuseOver, YAML_LIMITS } from './yaml-budget.ts'

/** Added to the kind of a token that turned out to begin an implicit key: a KEY stands before it. */
export const BEGINS_KEY = 64
/** Added where that key begins a block map: a BLOCK_MAP_START and a KEY stand before it. */
export const BEGINS_MAP = 128

const KIND = 0
const LINE = 1
const COLUMN = 2
const EXTRA = 3
const SIZE = 4
/** A guess at how few characters a token has in a manifest, so that the numbers rarely have to be moved. */
const CHARACTERS = 5

/** Numbers that are kept for the next text: a manifest has fewer, and memory outside of the heap is slow to come by. */
const MAX_SPARE = 64 * 1024

const NONE = new Int32Array(0)

/** All zero, as new ones are; undefined while someone has them. */
let spare: Int32Array<ArrayBuffer> | undefined

/** The tokens of a text. Numbers beside each other are far smaller than objects, and faster to make. */
export class TokenList {
  count = 0
  /** The text of a scalar, anchor, alias or tag. */
  readonly values: string[] = []
  /** By behind how many tokens comments stand, from where to where in the text. */
  readonly comments = new Map<number, { readonly from: number; to: number }>()
  private numbers: Int32Array<ArrayBuffer>
  private readonly position: Position
  private documents = 0
  private limit: number = YAML_LIMITS.documentTokens

  /** `length` is that of the text; `position` says where a limit was exceeded. */
  constructor(length: number, position: Position) {
    const expected = Math.min(Math.ceil(length / CHARACTERS), YAML_LIMITS.documentTokens) + 4
    if (expected * SIZE > MAX_SPARE) this.numbers = new Int32Array(expected * SIZE)
    else {
      this.numbers = spare ?? new Int32Array(MAX_SPARE)
      spare = undefined
    }
    this.position = position
  }

  /** Throws `render-limits` where the text has more than the limits. */
  push(kind: number, line: number, column: number, extra: number, value: string): void {
    if (this.count >= this.limit)
      refuseOver(this.limit === YAML_LIMITS.fileTokens ? 'fileTokens' : 'documentTokens', this.position(1, 1))
    if (kind === DOCUMENT_START) this.beginDocument(line, column)
    const at = this.count++ * SIZE
    if (at === this.numbers.length) this.grow()
    const { numbers } = this
    numbers[at + KIND] = kind
    numbers[at + LINE] = line
    numbers[at + COLUMN] = column
    numbers[at + EXTRA] = extra
    this.values.push(value)
  }

  /** The kind of a token, with what was added to it. */
  kind(token: number): number {
    return this.numbers[token * SIZE + KIND]!
  }

  /** BEGINS_KEY or BEGINS_MAP is added to the kind of a token, or 0 for none of them. */
  begin(token: number, what: number): void {
    const at = token * SIZE + KIND
    this.numbers[at] = (this.numbers[at]! % BEGINS_KEY) + what
  }

  /** 1-based. */
  line(token: number): number {
    return this.numbers[token * SIZE + LINE]!
  }

  /** 1-based, in UTF-16 units. */
  column(token: number): number {
    return this.numbers[token * SIZE + COLUMN]!
  }

  /** Of a plain or quoted scalar its last line, of a block scalar its indentation, of all else the column behind it. */
  extra(token: number): number {
    return this.numbers[token * SIZE + EXTRA]!
  }

  /** Nobody asks for a token any more. */
  release(): void {
    if (this.numbers.length === MAX_SPARE) spare = this.numbers.fill(0, 0, this.count * SIZE)
    this.numbers = NONE
    this.count = 0
  }

  private beginDocument(line: number, column: number): void {
    if (++this.documents > YAML_LIMITS.documents) refuseOver('documents', this.position(line, column))
    this.limit = Math.min(YAML_LIMITS.fileTokens, this.count + YAML_LIMITS.documentTokens)
  }

  private grow(): void {
    const grown = new Int32Array(this.numbers.length * 2)
    grown.set(this.numbers)
    this.numbers = grown
  }
}
