import {
  type BinaryOperator,
  type CelExpression,
  CelLimitError,
  CelSyntaxError,
  type Literal,
  MACROS,
  type Macro,
  TWO_VARIABLE_MACROS,
} from './expression.ts'
import type { FunctionLibrary } from './values.ts'

/** From what binds least to what binds most. */
const LEVELS: readonly (readonly BinaryOperator[])[] = [
  ['||'],
  ['&&'],
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]
const MAX_DEPTH = 60
const MAX_INT = 2n ** 63n

/**
 * Parses a CEL expression (cel-spec, with macros and optional syntax as cel-go reads them). Throws CelSyntaxError for what
 * is not CEL and for functions that are not known here.
 */
export function parseCel(text: string, library?: FunctionLibrary): CelExpression {
  const parser = new Parser(tokensOf(text), library)
  const expression = parser.expression(0)
  parser.end()
  return expression
}

class Parser {
  readonly #tokens: readonly CelToken[]
  readonly #library: FunctionLibrary | undefined
  readonly #links: number
  #at = 0

  constructor(tokens: readonly CelToken[], library: FunctionLibrary | undefined) {
    this.#tokens = tokens
    this.#library = library
    this.#links = library?.maxLinks ?? MAX_DEPTH
  }

  #knows(name: string, isMethod: boolean): boolean {
    if (this.#library === undefined) return isKnownFunction(name, isMethod)
    return this.#library.knows(name, isMethod)
  }

  end(): void {
    if (this.#at < this.#tokens.length) this.#unexpected()
  }

  expression(depth: number): CelExpression {
    if (depth > MAX_DEPTH) throw new CelLimitError(`it is nested more than ${MAX_DEPTH} levels deep`)
    const of = this.#binary(0, depth)
    if (!this.#takes('?')) return checked(of)
    const yes = checked(this.#binary(0, depth + 1))
    this.#must(':')
    return { type: 'choice', of: checked(of), yes, no: this.expression(depth + 1) }
  }

  #binary(level: number, depth: number): CelExpression {
    const operators = LEVELS[level]
    if (!operators) return this.#unary(depth)
    let left = this.#binary(level + 1, depth)
    for (let links = 0; ; links++) {
      const next = this.#tokens[this.#at]
      const operator = next?.type === 'mark' ? operators.find(one => one === next.text) : undefined
      if (!operator) return left
      if (links > this.#links) throw new CelLimitError(`it has more than ${this.#links} operators in a row`)
      this.#at++
      left = { type: 'binary', operator, left: checked(left), right: checked(this.#binary(level + 1, depth)) }
    }
  }

  #unary(depth: number): CelExpression {
    if (depth > MAX_DEPTH) throw new CelLimitError(`it is nested more than ${MAX_DEPTH} levels deep`)
    if (this.#takes('!')) return { type: 'unary', operator: '!', of: checked(this.#unary(depth + 1)) }
    if (!this.#takes('-')) return this.#member(depth)
    const next = this.#tokens[this.#at]
    if (next?.type === 'literal' && (typeof next.value === 'bigint' || typeof next.value === 'number')) {
      return this.#member(depth, -next.value)
    }
    return { type: 'unary', operator: '-', of: checked(this.#unary(depth + 1)) }
  }

  #member(depth: number, negative?: number | bigint): CelExpression {
    let of: CelExpression
    if (negative === undefined) of = this.#primary(depth)
    else {
      this.#at++
      of = { type: 'literal', value: negative }
    }
    for (let links = 0; links <= MAX_DEPTH; links++) {
      if (this.#takes('.')) of = this.#dotted(of, depth)
      else if (this.#takes('[')) {
        const optional = this.#takes('?')
        of = { type: 'index', of: checked(of), at: this.expression(depth + 1), optional }
        this.#must(']')
      } else return of
    }
    throw new CelLimitError(`it has more than ${MAX_DEPTH} fields in a row`)
  }

  #dotted(of: CelExpression, depth: number): CelExpression {
    const optional = this.#takes('?')
    const name = this.#name()
    if (optional || !this.#takes('(')) return { type: 'field', of: checked(of), name, optional }
    const qualified = of.type === 'name' ? `${of.name}.${name}` : undefined
    if (qualified !== undefined && this.#knows(qualified, false)) {
      return { type: 'call', of: undefined, name: qualified, args: this.#list(')', depth) }
    }
    const macro = name === 'sortBy' && this.#library ? name : MACROS.find(one => one === name)
    const args = this.#list(')', depth)
    const made = macro && macroOf(checked(of), macro, args)
    if (made) return made
    const two = this.#library && TWO_VARIABLE_MACROS.find(one => one === name)
    const paired = two && pairedMacroOf(checked(of), two, args)
    if (paired) return paired
    if (!this.#knows(name, true)) throw new CelSyntaxError(`the function ${name} is not supported`)
    return { type: 'call', of: checked(of), name, args }
  }

  #primary(depth: number): CelExpression {
    const token = this.#tokens[this.#at]
    if (!token) throw new CelSyntaxError('it ends too early')
    if (this.#takes('(')) {
      const inner = this.expression(depth + 1)
      this.#must(')')
      return inner
    }
    if (this.#takes('[')) return this.#listLiteral(depth)
    if (this.#takes('{')) return this.#mapLiteral(depth)
    const isAbsolute = this.#takes('.')
    if (token.type === 'literal') {
      this.#at++
      return { type: 'literal', value: token.value }
    }
    if (token.type === 'mark' && !isAbsolute) this.#unexpected()
    const name = this.#name()
    if (RESERVED.has(name)) throw new CelSyntaxError(`${name} is a reserved word`)
    if (!this.#takes('(')) return { type: 'name', name }
    const args = this.#list(')', depth)
    if (name === 'has') return hasOf(args)
    if (!this.#knows(name, false)) throw new CelSyntaxError(`the function ${name} is not supported`)
    return { type: 'call', of: undefined, name, args }
  }

  #listLiteral(depth: number): CelExpression {
    const items: { value: CelExpression; optional: boolean }[] = []
    while (!this.#takes(']')) {
      const optional = this.#takes('?')
      items.push({ optional, value: this.expression(depth + 1) })
      if (!this.#takes(',')) {
        this.#must(']')
        break
      }
    }
    return { type: 'list', items }
  }

  #mapLiteral(depth: number): CelExpression {
    const entries: { key: CelExpression; value: CelExpression; optional: boolean }[] = []
    while (!this.#takes('}')) {
      const optional = this.#takes('?')
      const key = this.expression(depth + 1)
      this.#must(':')
      entries.push({ optional, key, value: this.expression(depth + 1) })
      if (!this.#takes(',')) {
        this.#must('}')
        break
      }
    }
    return { type: 'map', entries }
  }

  #list(end: string, depth: number): CelExpression[] {
    const items: CelExpression[] = []
    if (this.#takes(end)) return items
    for (;;) {
      items.push(this.expression(depth + 1))
      if (this.#takes(end)) return items
      this.#must(',')
    }
  }

  #name(): string {
    const token = this.#tokens[this.#at]
    if (token?.type !== 'name') return this.#unexpected()
    this.#at++
    return token.text
  }

  #takes(mark: string): boolean {
    const token = this.#tokens[this.#at]
    if (token?.type !== 'mark' || token.text !== mark) return false
    this.#at++
    return true
  }

  #must(mark: string): void {
    if (!this.#takes(mark)) this.#unexpected()
  }

  #unexpected(): never {
    const token = this.#tokens[this.#at]
    if (!token) throw new CelSyntaxError('it ends too early')
    throw new CelSyntaxError(`unexpected ${token.type === 'literal' ? 'value' : token.text}`)
  }
}

/** A macro with two variables; undefined: it is an ordinary function of that name. */
function pairedMacroOf(of: CelExpression, macro: Macro, args: readonly CelExpression[]): CelExpression | undefined {
  const counts: readonly number[] = macro.startsWith('transform') ? [3, 4] : [3]
  if (!counts.includes(args.length)) return undefined
  const [first, second, ...rest] = args
  if (first?.type !== 'name' || second?.type !== 'name') {
    throw new CelSyntaxError(`the first two arguments of ${macro}() are not names`)
  }
  return { type: 'macro', of, macro, variable: first.name, second: second.name, args: rest }
}

/** 2^63 is only a number behind a minus. */
function checked(expression: CelExpression): CelExpression {
  if (expression.type === 'literal' && expression.value === MAX_INT) throw new CelSyntaxError(`${MAX_INT} is too large`)
  return expression
}

function hasOf(args: readonly CelExpression[]): CelExpression {
  const [field] = args
  if (args.length !== 1 || field?.type !== 'field' || field.optional) {
    throw new CelSyntaxError('has() takes one field, such as has(status.conditions)')
  }
  return { type: 'has', of: field.of, name: field.name }
}

/** Undefined: it is an ordinary function of that name. */
function macroOf(of: CelExpression, macro: Macro, args: readonly CelExpression[]): CelExpression | undefined {
  const counts: readonly number[] = macro === 'map' ? [2, 3] : [2]
  if (!counts.includes(args.length)) return undefined
  const [variable, ...rest] = args
  if (variable?.type !== 'name') throw new CelSyntaxError(`the first argument of ${macro}() is not a name`)
  return { type: 'macro', of, macro, variable: variable.name, args: rest }
}

type CelToken =
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
function tokensOf(text: string): CelToken[] {
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

/** Functions that are called by their name: those of CEL, and of the libraries that Flux loads (sets, encoders, optional). */
const GLOBAL = new Set([
  ...['size', 'int', 'uint', 'double', 'string', 'bool', 'bytes', 'dyn', 'type', 'matches', 'timestamp', 'duration'],
  ...['sets.contains', 'sets.equivalent', 'sets.intersects', 'base64.encode', 'base64.decode'],
  ...['optional.of', 'optional.none', 'optional.ofNonZeroValue', 'strings.quote'],
])

/** Functions that are called on a value: those of CEL, and of its library for strings. */
const METHODS = new Set([
  ...['size', 'contains', 'startsWith', 'endsWith', 'matches'],
  ...['charAt', 'indexOf', 'lastIndexOf', 'join', 'lowerAscii', 'upperAscii', 'replace', 'reverse', 'split'],
  ...['substring', 'trim', 'or', 'orValue', 'hasValue', 'value'],
])

/** Whether a function of that name exists here; `isMethod`: called on a value. */
export function isKnownFunction(name: string, isMethod: boolean): boolean {
  return (isMethod ? METHODS : GLOBAL).has(name)
}
