import { NotUnderstood } from './not-understood.ts'
import { beginsWith, isKnown, isSame, type Symbolic, unknownText } from './symbolic.ts'

/**
 * What an expression of GitHub Actions gives: a text (its unknown parts marked), true or false, or undefined where a condition
 * depends on what is not known.
 */
type Value = Symbolic | boolean | undefined

/** Looks up `github.ref`, `env.NAME`, ...; undefined where nothing is known of it. */
export type Lookup = (name: string) => Symbolic | undefined

/** What may stand in an expression and come from anybody: in a script it is code. */
const UNTRUSTED = /^github\.(?:head_ref|event\.(?!repository\.|inputs\.))/
const TOKEN = /\s*(?:(&&|\|\||[=!]=|[!(),])|'((?:[^']|'')*)'|(\d+(?:\.\d+)?)|([A-Za-z_][\w-]*(?:\.[\w*-]+)*))/y
const MAX_LENGTH = 2_000
const MAX_DEPTH = 50

/** The text with each `${{ }}` replaced by what it gives. Throws NotUnderstood where anybody may write into it. */
export function fillIn(text: string, lookup: Lookup, isScript = false): Symbolic {
  let filled = ''
  let from = 0
  for (let start = text.indexOf('${{'); start >= 0; start = text.indexOf('${{', from)) {
    const end = text.indexOf('}}', start)
    if (end < 0) break
    const written = text.slice(start + 3, end).trim()
    if (isScript && namesIn(written).some(name => UNTRUSTED.test(name))) {
      throw new NotUnderstood(`\${{ ${written} }} puts untrusted text into the script`)
    }
    const value = evaluate(written, lookup)
    filled += text.slice(from, start) + (value === undefined ? unknownText(written) : String(value))
    from = end + 2
  }
  return filled + text.slice(from)
}

/** Whether a condition holds; without the braces that an `if` may leave out. Undefined: that is not known. */
export function holds(condition: string, lookup: Lookup): boolean | undefined {
  const inner = /^\s*\$\{\{([\s\S]*)\}\}\s*$/.exec(condition)?.[1]
  if (inner === undefined && condition.includes('${{')) return undefined
  return truth(evaluate(inner ?? condition, lookup))
}

/** The names in a condition of which nothing is known. */
export function unknownNames(condition: string, lookup: Lookup): string[] {
  const inner = /^\s*\$\{\{([\s\S]*)\}\}\s*$/.exec(condition)?.[1] ?? condition
  return namesIn(inner).filter(
    name => !CONSTANTS.has(name.toLowerCase()) && !isKnown(lookup(name) ?? unknownText(name)),
  )
}

const CONSTANTS = new Set(['true', 'false', 'null', 'always', 'success', 'failure', 'cancelled', 'startswith'])

const truth = (value: Value): boolean | undefined => {
  if (typeof value !== 'string') return value
  return isKnown(value) ? value !== '' && value !== 'false' : undefined
}

function namesIn(written: string): string[] {
  return tokensOf(written)?.flatMap(({ name }) => name ?? []) ?? ['github.event.unreadable']
}

interface Token {
  readonly operator?: string
  readonly text?: string
  readonly name?: string
}

function tokensOf(written: string): Token[] | undefined {
  if (written.length > MAX_LENGTH) return undefined
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  const end = written.trimEnd().length
  while (TOKEN.lastIndex < end) {
    const found = TOKEN.exec(written)
    if (!found) return undefined
    const [, operator, text, number, name] = found
    if (operator !== undefined) tokens.push({ operator })
    else if (text !== undefined || number !== undefined) tokens.push({ text: text?.replaceAll("''", "'") ?? number! })
    else tokens.push({ name: name! })
  }
  return tokens
}

/** Undefined for what is not understood. */
function evaluate(written: string, lookup: Lookup): Value {
  const tokens = tokensOf(written)
  if (!tokens) return undefined
  const reader = { tokens, index: 0, lookup, depth: 0 }
  try {
    const value = either(reader)
    return reader.index === tokens.length ? value : undefined
  } catch (error) {
    if (error instanceof NotUnderstood) return undefined
    throw error
  }
}

interface Reader {
  readonly tokens: readonly Token[]
  index: number
  readonly lookup: Lookup
  depth: number
}

function takes(reader: Reader, operator: string): boolean {
  if (reader.tokens[reader.index]?.operator !== operator) return false
  reader.index++
  return true
}

/** `a || b` gives the first that is true, else the last. */
function either(reader: Reader): Value {
  let value = both(reader)
  while (takes(reader, '||')) {
    const other = both(reader)
    const is = truth(value)
    if (is === false) value = other
    else if (is === undefined) value = truth(other) === true && typeof other === 'boolean' ? true : undefined
  }
  return value
}

function both(reader: Reader): Value {
  let value = compared(reader)
  while (takes(reader, '&&')) {
    const other = compared(reader)
    const is = truth(value)
    if (is === true) value = other
    else if (is === undefined) value = truth(other) === false ? false : undefined
  }
  return value
}

function compared(reader: Reader): Value {
  const value = single(reader)
  const isEqual = takes(reader, '==')
  if (!isEqual && !takes(reader, '!=')) return value
  const same = equals(value, single(reader))
  return same === undefined ? undefined : same === isEqual
}

/** GitHub compares texts without their case. */
function equals(one: Value, other: Value): boolean | undefined {
  if (typeof one === 'boolean' && typeof other === 'boolean') return one === other
  if (typeof one !== 'string' || typeof other !== 'string') return undefined
  return isSame(one.toLowerCase(), other.toLowerCase())
}

function single(reader: Reader): Value {
  if (++reader.depth > MAX_DEPTH) throw new NotUnderstood('nested too deeply')
  if (takes(reader, '!')) {
    const value = truth(single(reader))
    return value === undefined ? undefined : !value
  }
  if (takes(reader, '(')) {
    const value = either(reader)
    if (!takes(reader, ')')) throw new NotUnderstood('no )')
    return value
  }
  const { text, name } = reader.tokens[reader.index++] ?? {}
  if (text !== undefined) return text
  if (name === undefined) throw new NotUnderstood('no value')
  if (takes(reader, '(')) return called(name, argumentsOf(reader))
  if (name === 'true' || name === 'false') return name === 'true'
  return reader.lookup(name) ?? unknownText(name)
}

function argumentsOf(reader: Reader): Value[] {
  const list: Value[] = []
  if (takes(reader, ')')) return list
  do list.push(either(reader))
  while (takes(reader, ','))
  if (!takes(reader, ')')) throw new NotUnderstood('no )')
  return list
}

function called(name: string, [one, other]: readonly Value[]): Value {
  const lower = name.toLowerCase()
  if (lower === 'always' || lower === 'success') return true
  if (lower === 'failure' || lower === 'cancelled') return false
  if (lower !== 'startswith' || typeof one !== 'string' || typeof other !== 'string' || !isKnown(other))
    return undefined
  return beginsWith(one.toLowerCase(), other.toLowerCase())
}
