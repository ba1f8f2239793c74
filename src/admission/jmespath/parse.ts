import { type ContextValue, fromJson, NotEvaluatedError, RuleError } from './values.ts'

/** Binding powers of tokens (jmespath.org/specification, with Kyverno's go-jmespath). */
const POWERS: ReadonlyMap<string, number> = new Map([
  ['|', 1],
  ['||', 2],
  ['&&', 3],
  ...['==', '!=', '<', '<=', '>', '>='].map((operator): [string, number] => [operator, 5]),
  ['[]', 9],
  ['*', 20],
  ['[?', 21],
  ['.', 40],
  ['!', 45],
  ['{', 50],
  ['[', 55],
  ['(', 60],
])
/** A token with a lower binding power ends a projection. */
const PROJECTION = 10
const CURRENT: JmespathExpression = { type: 'current' }

interface Reader {
  readonly tokens: readonly JmespathToken[]
  at: number
}

/** Parses a JMESPath expression; throws RuleError if it is invalid. */
export function parse(text: string): JmespathExpression {
  const reader: Reader = { tokens: tokensOf(text), at: 0 }
  const expression = expressionOf(reader, 0)
  if (typeAt(reader) !== 'end') throw unexpected(reader)
  return expression
}

const powerOf = (type: string) => POWERS.get(type) ?? 0
const typeAt = ({ tokens, at }: Reader, ahead = 0) => tokens[Math.min(at + ahead, tokens.length - 1)]!.type

function next(reader: Reader): JmespathToken {
  const token = reader.tokens[reader.at] ?? { type: 'end', text: '' }
  reader.at++
  return token
}

function expect(reader: Reader, type: string): void {
  if (typeAt(reader) !== type) throw unexpected(reader)
  reader.at++
}

const unexpected = ({ tokens, at }: Reader) =>
  new RuleError(`unexpected ${JSON.stringify(tokens[at]?.text || 'end')} in a JMESPath expression`)

function expressionOf(reader: Reader, power: number): JmespathExpression {
  let left = prefix(reader, next(reader))
  for (let type = typeAt(reader); power < powerOf(type); type = typeAt(reader)) {
    reader.at++
    left = infix(reader, type, left)
  }
  return left
}

function prefix(reader: Reader, { type, text }: JmespathToken): JmespathExpression {
  if (type === 'name') return { type: 'field', name: text }
  if (type === 'quoted') return { type: 'field', name: quotedName(reader, text) }
  if (type === 'raw') return { type: 'literal', value: text.slice(1, -1).replaceAll("\\'", "'") }
  if (type === 'json') return { type: 'literal', value: literal(text.slice(1, -1).replaceAll('\\`', '`')) }
  if (type === '@') return CURRENT
  if (type === '!') return { type: 'not', of: expressionOf(reader, powerOf('!')) }
  if (type === '&') return { type: 'reference', of: expressionOf(reader, 0) }
  if (type === '{') return fieldsOf(reader)
  if (type === '[?') return filterOf(reader, CURRENT)
  if (type === '[') return bracket(reader, CURRENT) ?? listOf(reader)
  if (type === '*') {
    const right = typeAt(reader) === ']' ? CURRENT : projected(reader, powerOf('*'))
    return { type: 'values', left: CURRENT, right }
  }
  if (type === '[]') return flattened(reader, CURRENT)
  if (type === '(') {
    const inner = expressionOf(reader, 0)
    expect(reader, ')')
    return inner
  }
  reader.at--
  throw unexpected(reader)
}

function infix(reader: Reader, type: string, left: JmespathExpression): JmespathExpression {
  if (type === '.') {
    if (typeAt(reader) !== '*') return { type: 'sub', left, right: afterDot(reader, powerOf('.')) }
    reader.at++
    return { type: 'values', left, right: projected(reader, powerOf('.')) }
  }
  if (type === '|') return { type: 'pipe', left, right: expressionOf(reader, powerOf(type)) }
  if (type === '||') return { type: 'or', left, right: expressionOf(reader, powerOf(type)) }
  if (type === '&&') return { type: 'and', left, right: expressionOf(reader, powerOf(type)) }
  if (type === '(') return callOf(reader, left)
  if (type === '[?') return filterOf(reader, left)
  if (type === '[]') return flattened(reader, left)
  if (type === '[') {
    const found = bracket(reader, left)
    if (found) return found
  } else if (powerOf(type) === powerOf('==')) {
    return { type: 'compare', operator: type as Comparison, left, right: expressionOf(reader, powerOf(type)) }
  }
  throw unexpected(reader)
}

/** Parses `[1]`, `[1:2]` or `[*]` after its `[`; undefined for a multiselect list. */
function bracket(reader: Reader, left: JmespathExpression): JmespathExpression | undefined {
  const type = typeAt(reader)
  if (type === '*' && typeAt(reader, 1) === ']') {
    reader.at += 2
    return { type: 'items', left, right: projected(reader, powerOf('*')) }
  }
  if (type !== 'number' && type !== ':') return undefined
  if (type === ':' || typeAt(reader, 1) === ':') {
    const sliced: JmespathExpression = { type: 'sub', left, right: sliceOf(reader) }
    return { type: 'items', left: sliced, right: projected(reader, powerOf('*')) }
  }
  const index = Number(next(reader).text)
  expect(reader, ']')
  return { type: 'sub', left, right: { type: 'index', index } }
}

function sliceOf(reader: Reader): JmespathExpression {
  const parts: (number | undefined)[] = [undefined, undefined, undefined]
  let part = 0
  while (typeAt(reader) !== ']' && part < 3) {
    if (typeAt(reader) === ':') part++
    else if (typeAt(reader) === 'number') parts[part] = Number(reader.tokens[reader.at]!.text)
    else throw unexpected(reader)
    reader.at++
  }
  expect(reader, ']')
  return { type: 'slice', parts }
}

const flattened = (reader: Reader, of: JmespathExpression): JmespathExpression => ({
  type: 'items',
  left: { type: 'flatten', of },
  right: projected(reader, powerOf('[]')),
})

function filterOf(reader: Reader, left: JmespathExpression): JmespathExpression {
  const condition = expressionOf(reader, 0)
  expect(reader, ']')
  const right = typeAt(reader) === '[]' ? CURRENT : projected(reader, powerOf('[?'))
  return { type: 'filter', left, right, condition }
}

/** The expression that a projection applies to each item. */
function projected(reader: Reader, power: number): JmespathExpression {
  const type = typeAt(reader)
  if (powerOf(type) < PROJECTION) return CURRENT
  if (type === '[' || type === '[?') return expressionOf(reader, power)
  expect(reader, '.')
  return afterDot(reader, power)
}

function afterDot(reader: Reader, power: number): JmespathExpression {
  const type = typeAt(reader)
  if (type === 'quoted' || type === 'name' || type === '*') return expressionOf(reader, power)
  reader.at++
  if (type === '[') return listOf(reader)
  if (type === '{') return fieldsOf(reader)
  reader.at--
  throw unexpected(reader)
}

function listOf(reader: Reader): JmespathExpression {
  const of = [expressionOf(reader, 0)]
  while (typeAt(reader) !== ']') {
    expect(reader, ',')
    of.push(expressionOf(reader, 0))
  }
  reader.at++
  return { type: 'list', of }
}

function fieldsOf(reader: Reader): JmespathExpression {
  const of: [string, JmespathExpression][] = []
  for (;;) {
    const { type, text } = next(reader)
    if (type !== 'name' && type !== 'quoted') {
      reader.at--
      throw unexpected(reader)
    }
    expect(reader, ':')
    of.push([type === 'name' ? text : String(json(text)), expressionOf(reader, 0)])
    if (typeAt(reader) === '}') break
    expect(reader, ',')
  }
  reader.at++
  return { type: 'fields', of }
}

function callOf(reader: Reader, callee: JmespathExpression): JmespathExpression {
  if (callee.type !== 'field') throw unexpected(reader)
  const args: JmespathExpression[] = []
  while (typeAt(reader) !== ')') {
    args.push(expressionOf(reader, 0))
    if (typeAt(reader) === ',') reader.at++
  }
  reader.at++
  return { type: 'call', name: callee.name, args }
}

function quotedName(reader: Reader, text: string): string {
  if (typeAt(reader) === '(') throw unexpected(reader)
  return String(json(text))
}

const literal = (text: string): ContextValue => json(text)

function json(text: string): ContextValue {
  try {
    return fromJson(JSON.parse(text))
  } catch {
    throw new RuleError(`${JSON.stringify(text)} in a JMESPath expression is not JSON`)
  }
}

interface JmespathToken {
  /** The type of an operator is the operator itself. */
  readonly type: string
  readonly text: string
}

const MAX_LENGTH = 20_000
/** Limits the depth of the syntax tree. */
const MAX_TOKENS = 1_000

const TOKEN =
  /(?<space>[ \t\n\r]+)|(?<name>[A-Za-z_][A-Za-z0-9_]*)|(?<number>-?[0-9]+)|(?<quoted>"(?:[^"\\]|\\[\s\S])*")|(?<raw>'(?:[^'\\]|\\'|\\(?!'))*')|(?<json>`(?:[^`\\]|\\[\s\S])*`)|(?<operator>\[\?|\[\]|\|\||&&|[<>!=]=|[.*,:{}\]()@[|<>!&])/y

/** Splits a JMESPath expression into tokens as Kyverno's go-jmespath does; the last token has the type `end`. */
function tokensOf(text: string): JmespathToken[] {
  if (text.length > MAX_LENGTH) throw new NotEvaluatedError(`an expression of more than ${MAX_LENGTH} characters`)
  const tokens: JmespathToken[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const groups = TOKEN.exec(text)?.groups
    if (!groups) throw new RuleError(`unexpected character ${JSON.stringify(text[at])} in ${JSON.stringify(text)}`)
    const [type, found] = Object.entries(groups).find(([, one]) => one !== undefined)!
    if (type !== 'space') tokens.push(type === 'operator' ? { type: found, text: found } : { type, text: found })
    if (tokens.length > MAX_TOKENS) throw new NotEvaluatedError(`an expression of more than ${MAX_TOKENS} tokens`)
  }
  return [...tokens, { type: 'end', text: '' }]
}

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

/** How a projection selects the items of a list or the values of an object. */
export type Projection =
  | { readonly type: 'flatten'; readonly of: JmespathExpression }
  | { readonly type: 'items' | 'values'; readonly left: JmespathExpression; readonly right: JmespathExpression }
  | {
      readonly type: 'filter'
      readonly left: JmespathExpression
      readonly right: JmespathExpression
      readonly condition: JmespathExpression
    }

export type JmespathExpression =
  | { readonly type: 'current' }
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'literal'; readonly value: ContextValue }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'slice'; readonly parts: readonly (number | undefined)[] }
  | { readonly type: 'not' | 'reference'; readonly of: JmespathExpression }
  | {
      readonly type: 'sub' | 'pipe' | 'or' | 'and'
      readonly left: JmespathExpression
      readonly right: JmespathExpression
    }
  | Projection
  | {
      readonly type: 'compare'
      readonly operator: Comparison
      readonly left: JmespathExpression
      readonly right: JmespathExpression
    }
  | { readonly type: 'list'; readonly of: readonly JmespathExpression[] }
  | { readonly type: 'fields'; readonly of: readonly (readonly [string, JmespathExpression])[] }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly JmespathExpression[] }
