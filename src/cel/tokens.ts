import { CelLimitError, CelSyntaxError } from './cel-error.ts'
import type { Literal } from './expression.ts'

export type CelToken =
  | { readonly type: 'mark'; readonly text: string }
  | { readonly type: 'name'; readonly text: string }
  | { readonly type: 'literal'; readonly value: Literal }

const SPACE = /(?:[ \t\r\n\f]|\/\/[^\n]*)*/y
const NUMBER =
  /0[xX][0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.[0-9]+(?:[eE][-+]?[0-9]+)?)|[0-9]+[uU]?/y
const NAME = /[_a-zA-Z][_a-zA-Z0-9]*/y
/** A field whose name is not an identifier (cel-spec, escaped identifiers). */
const QUOTED_NAME = /`[a-zA-Z0-9_.\-/ ]+`/y
const MARK = /\|\||&&|==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]/y
const PREFIX = /(?:[rR][bB]?|[bB][rR]?)?(?="|')/y

const MAX_TEXT = 20_000
const WORDS: ReadonlyMap<string, Literal> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])
/** Names that CEL keeps for other languages: of fields, but of no variable (cel-spec, syntax). */
export const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const INT_MAX = 2n ** 63n

/** The tokens of an expression. Throws CelSyntaxError. */
export function tokensOf(text: string): CelToken[] {
  if (text.length > MAX_TEXT) throw new CelLimitError(`it is longer than ${MAX_TEXT} characters`)
  const tokens: CelToken[] = []
  for (let at = skip(text, 0); at < text.length; at = skip(text, at)) {
    const [token, end] = tokenAt(text, at)
    tokens.push(token)
    at = end
  }
  return tokens
}

function skip(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.exec(text)
  return SPACE.lastIndex
}

function find(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function tokenAt(text: string, at: number): [CelToken, number] {
  const prefix = find(PREFIX, text, at)
  if (prefix !== undefined) return quoted(text, at, prefix.toLowerCase())
  const name = find(NAME, text, at)
  if (name !== undefined) {
    const value = WORDS.get(name)
    const token: CelToken = value === undefined ? { type: 'name', text: name } : { type: 'literal', value }
    // `in` is an operator
    return [name === 'in' ? { type: 'mark', text: name } : token, at + name.length]
  }
  const escaped = find(QUOTED_NAME, text, at)
  if (escaped !== undefined) return [{ type: 'name', text: escaped.slice(1, -1) }, at + escaped.length]
  const number = find(NUMBER, text, at)
  if (number !== undefined) return [{ type: 'literal', value: numberOf(number) }, at + number.length]
  const mark = find(MARK, text, at)
  if (mark !== undefined) return [{ type: 'mark', text: mark }, at + mark.length]
  throw new CelSyntaxError(`unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at)!))}`)
}

function numberOf(text: string): Literal {
  const isHex = /^0x/i.test(text)
  if (!isHex && /[.eE]/.test(text)) return Number(text)
  const isUnsigned = /u$/i.test(text)
  const value = BigInt(isUnsigned ? text.slice(0, -1) : text)
  if (value > (isUnsigned ? 2n * INT_MAX - 1n : INT_MAX)) throw new CelSyntaxError(`${text} is too large`)
  return isUnsigned ? { unsigned: value } : value
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...['\\', '?', '"', "'", '`'].map((one): [string, string] => [one, one]),
  ...Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }),
])
const CODE = /x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y

function quoted(text: string, start: number, prefix: string): [CelToken, number] {
  let at = start + prefix.length
  const one = text[at]!
  const mark = text.startsWith(one.repeat(3), at) ? one.repeat(3) : one
  at += mark.length
  const isRaw = prefix.includes('r')
  const isBytes = prefix.includes('b')
  const bytes: number[] = []
  let value = ''
  const add = (piece: string) => {
    if (isBytes) bytes.push(...Buffer.from(piece))
    else value += piece
  }
  while (!text.startsWith(mark, at)) {
    const char = at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : undefined
    if (char === undefined || (mark.length === 1 && /[\r\n]/.test(char)))
      throw new CelSyntaxError('a string does not end')
    at += char.length
    if (char !== '\\' || isRaw) {
      add(char)
      continue
    }
    const simple = ESCAPES.get(text[at] ?? '')
    if (simple !== undefined) {
      add(simple)
      at++
      continue
    }
    CODE.lastIndex = at
    const found = CODE.exec(text)
    if (!found) throw new CelSyntaxError('a string has an invalid escape')
    at += found[0].length
    const [, hex, short, long, octal] = found
    const code = octal === undefined ? Number.parseInt((hex ?? short ?? long)!, 16) : Number.parseInt(octal, 8)
    if (isBytes && (hex ?? octal) !== undefined) bytes.push(code)
    else if (isBytes || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new CelSyntaxError('a string has an invalid escape')
    } else add(String.fromCodePoint(code))
  }
  return [{ type: 'literal', value: isBytes ? Uint8Array.from(bytes) : value }, at + mark.length]
}
