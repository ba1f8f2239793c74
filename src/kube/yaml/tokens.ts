import type { Origin } from '../../base/origin.ts'
import { type Cursor, type Position, refuseOver, YAML_LIMITS } from './cursor.ts'

// What the scanner tells apart, after libyaml. A number each, because there are millions of them.
export const STREAM_END = 0
export const DOCUMENT_START = 1
export const DOCUMENT_END = 2
export const BLOCK_LIST_START = 3
export const BLOCK_MAP_START = 4
export const BLOCK_END = 5
export const FLOW_LIST_START = 6
export const FLOW_LIST_END = 7
export const FLOW_MAP_START = 8
export const FLOW_MAP_END = 9
export const BLOCK_ENTRY = 10
export const FLOW_ENTRY = 11
export const KEY = 12
export const VALUE = 13
export const ALIAS = 14
export const ANCHOR = 15
export const TAG = 16
export const PLAIN = 17
export const SINGLE_QUOTED = 18
export const DOUBLE_QUOTED = 19
export const LITERAL = 20
export const FOLDED = 21

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

/** All zero, as new ones are; undefined while they are in use. */
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

  /** No token is needed any more. */
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

const NO_KEYS = -1
const LONGEST = 1024

/** The tokens that may turn out to begin a key, one for each pair of brackets around the cursor. */
export class SimpleKeys {
  /** Whether a key may begin at the cursor. */
  allowed = true
  /** How many brackets are open. */
  depth = 0
  private readonly cursor: Cursor
  private readonly tokens: TokenList
  private readonly candidates: number[] = [NO_KEYS]
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
    if (candidate !== NO_KEYS && this.required[this.depth]) this.fail(candidate)
    this.candidates[this.depth] = NO_KEYS
  }

  /** At a colon: the token that begins its key, -1 for none. Throws `yaml-syntax` for one that is too far away. */
  take(): number {
    const candidate = this.candidates[this.depth]!
    if (candidate === NO_KEYS) return NO_KEYS
    this.candidates[this.depth] = NO_KEYS
    if (this.isNear(candidate)) return candidate
    return this.required[this.depth] ? this.fail(candidate) : NO_KEYS
  }

  open(): void {
    this.depth++
    this.candidates.push(NO_KEYS)
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
