import { BailiwickError } from '../base/errors.ts'
import { asInt, asTime, asUint, readGoDuration, readTimestamp, zoneOf } from './arithmetic.ts'
import { CelBudgetError, CelError } from './expression.ts'
import { containsPattern } from './regexp/pattern.ts'
import { CelMap, type CelValue, isEqual, isList, Optional, Time, TypeName, typeOf, Unsigned } from './values.ts'

/** Calls a function that isKnownFunction knows. Of a method the first argument is what it is called on. Throws CelError. */
export function callFunction(
  name: string,
  isMethod: boolean,
  args: readonly CelValue[],
  spend: (steps: number) => void,
): CelValue {
  const [first, second] = args
  if (name === 'size' && args.length === 1) return sizeOf(first!, spend)
  if (!isMethod) {
    if (name === 'type' && args.length === 1) return new TypeName(typeOf(first!))
    if (name === 'dyn' && args.length === 1) return first!
    const converted = args.length === 1 ? conversion(name, first!, spend) : undefined
    if (converted !== undefined) return converted
    if (name.startsWith('sets.') && isList(first!) && isList(second!)) return setFunction(name, first, second, spend)
  }
  const optional = optionalFunction(name, args)
  if (optional !== undefined) return optional
  const text = stringFunction(name, args, spend)
  if (text !== undefined) return text
  throw new CelError('no such overload')
}

function sizeOf(value: CelValue, spend: (steps: number) => void): bigint {
  if (typeof value === 'string') {
    spend(value.length / 10)
    return BigInt([...value].length)
  }
  if (isList(value) || value instanceof Uint8Array) return BigInt(value.length)
  if (value instanceof CelMap) return BigInt(value.entries.size)
  throw new CelError('no such overload')
}

function setFunction(
  name: string,
  a: readonly CelValue[],
  b: readonly CelValue[],
  spend: (steps: number) => void,
): boolean {
  const has = (set: readonly CelValue[], item: CelValue) => set.some(one => isEqual(one, item, spend))
  if (name === 'sets.contains') return b.every(item => has(a, item))
  if (name === 'sets.intersects') return b.some(item => has(a, item))
  return b.every(item => has(a, item)) && a.every(item => has(b, item))
}

function optionalFunction(name: string, args: readonly CelValue[]): CelValue | undefined {
  const [first, second] = args
  if (name === 'optional.none' && args.length === 0) return new Optional(undefined)
  if (name === 'optional.of' && args.length === 1) return new Optional(first!)
  if (name === 'optional.ofNonZeroValue' && args.length === 1) return new Optional(isZero(first!) ? undefined : first!)
  if (!(first instanceof Optional)) return undefined
  if (name === 'hasValue' && args.length === 1) return first.value !== undefined
  if (name === 'value' && args.length === 1) {
    if (first.value === undefined) throw new CelError('optional.none() dereference')
    return first.value
  }
  if (name === 'orValue' && args.length === 2) return first.value ?? second!
  if (name === 'or' && second instanceof Optional) return first.value === undefined ? second : first
  return undefined
}

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true
  if (value instanceof Unsigned) return value.value === 0n
  if (value instanceof Time) return value.nanos === (value.kind === 'duration' ? 0n : ZERO_TIME)
  if (isList(value) || value instanceof Uint8Array) return value.length === 0
  return value instanceof CelMap && value.entries.size === 0
}

/** Year 1, where Go's time begins. */
const ZERO_TIME = -62_135_596_800_000_000_000n

/** Allows any number of leading zeros. */
const INTEGER = /^[-+]?0*[0-9]{1,25}$/
const UNSIGNED = /^0*[0-9]{1,25}$/
const DOUBLE = /^[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/
const NO_NUMBER = /^([-+]?)(?:inf(?:inity)?|(nan))$/i
/** Go also reads hexadecimal integers. */
const HEX = /^[-+]?0x/i
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** A type conversion, such as `int("3")`; undefined: no conversion of that name takes such a value. */
function conversion(name: string, value: CelValue, spend: (steps: number) => void): CelValue | undefined {
  if (typeof value === 'string' || value instanceof Uint8Array) spend(value.length / 10)
  switch (name) {
    case 'int':
      return toInt(value)
    case 'uint':
      return toUint(value)
    case 'double':
      return toDouble(value)
    case 'string':
      return toText(value)
    case 'bool':
      return toFlag(value)
    case 'bytes':
      return typeof value === 'string' ? Uint8Array.from(Buffer.from(value)) : ofType(value, Uint8Array)
    case 'timestamp':
      return value instanceof Time && value.kind === 'timestamp' ? value : timeOf('timestamp', value)
    case 'duration':
      return value instanceof Time && value.kind === 'duration' ? value : timeOf('duration', value)
    case 'base64.encode':
      return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : undefined
    case 'base64.decode':
      return typeof value === 'string' ? decode(value) : undefined
    default:
      return undefined
  }
}

const ofType = (value: CelValue, type: typeof Uint8Array): Uint8Array | undefined =>
  value instanceof type ? value : undefined

function toInt(value: CelValue): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (value instanceof Unsigned) return asInt(value.value)
  if (typeof value === 'number') {
    if (!(Math.abs(value) < 2 ** 63)) throw new CelError('integer overflow')
    return BigInt(Math.trunc(value))
  }
  if (value instanceof Time && value.kind === 'timestamp') return value.nanos / 1_000_000_000n
  if (typeof value !== 'string') return undefined
  if (!INTEGER.test(value)) throw new CelError('type conversion error')
  return asInt(BigInt(value.replace(/^\+/, '')))
}

function toUint(value: CelValue): Unsigned | undefined {
  if (value instanceof Unsigned) return value
  if (typeof value === 'bigint') return asUint(value)
  if (typeof value === 'number') {
    if (!(value > -1 && value < 2 ** 64)) throw new CelError('unsigned integer overflow')
    return asUint(BigInt(Math.trunc(value)))
  }
  if (typeof value !== 'string') return undefined
  if (!UNSIGNED.test(value)) throw new CelError('type conversion error')
  return asUint(BigInt(value))
}

function toDouble(value: CelValue): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Unsigned) return Number(value.value)
  if (typeof value !== 'string') return undefined
  const [other, sign, isNan] = NO_NUMBER.exec(value) ?? []
  if (other !== undefined && !(isNan && sign)) return isNan ? Number.NaN : sign === '-' ? -Infinity : Infinity
  if (HEX.test(value)) throw new CelBudgetError('a double in base 16')
  // Go allows an underscore between digits
  const digits = value.replace(/(?<=\d)_(?=\d)/g, '')
  const number = DOUBLE.test(digits) ? Number(digits) : Number.NaN
  if (!Number.isFinite(number)) throw new CelError('type conversion error')
  return number
}

function toFlag(value: CelValue): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return undefined
  if (TRUE.has(value)) return true
  if (FALSE.has(value)) return false
  throw new CelError('type conversion error')
}

function toText(value: CelValue): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (value instanceof Unsigned) return String(value.value)
  if (value instanceof Uint8Array) return decodeText(value)
  // Go writes very large and very small ones otherwise
  const size = typeof value === 'number' ? Math.abs(value) : Number.NaN
  if (size === 0 || (size < 1e20 && size >= 1e-4)) return String(value)
  return undefined
}

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CelError('invalid UTF-8')
  }
}

function timeOf(kind: 'timestamp' | 'duration', value: CelValue): Time | undefined {
  if (typeof value === 'bigint' && kind === 'timestamp') return asTime(kind, value * 1_000_000_000n)
  if (typeof value !== 'string') return undefined
  const nanos = kind === 'timestamp' ? readTimestamp(value) : readGoDuration(value)
  if (nanos === undefined) throw new CelError('type conversion error')
  return asTime(kind, nanos, kind === 'timestamp' ? zoneOf(value) : 0)
}

/** With or without padding. */
function decode(text: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new CelError('illegal base64 data')
  return Uint8Array.from(Buffer.from(text, 'base64'))
}

type Spend = (steps: number) => void

/** White space of Go. */
const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const SPACES = new RegExp(`^${SPACE}|${SPACE}$`, 'gu')

/** How far a text may grow: `join`, `replace` and `quote` make longer ones. */
const MAX_TEXT = 1_000_000

/** A function of a text (CEL, and cel-go's ext.Strings); undefined: no function of that name takes such arguments. */
function stringFunction(name: string, args: readonly CelValue[], spend: Spend): CelValue | undefined {
  const [first, ...rest] = args
  if (name === 'join' && isList(first!)) return join(first, rest, spend)
  if (typeof first !== 'string') return undefined
  spend(first.length / 10)
  const texts = rest.filter(arg => typeof arg === 'string')
  const numbers = rest.filter(arg => typeof arg === 'bigint')
  if (texts.length + numbers.length !== rest.length) return undefined
  const shape = rest.map(arg => (typeof arg === 'string' ? 's' : 'n')).join('')
  return ofShape(name, first, shape, texts, numbers, spend)
}

function ofShape(
  name: string,
  text: string,
  shape: string,
  [a = '', b = '']: readonly string[],
  numbers: readonly bigint[],
  spend: Spend,
): CelValue | undefined {
  switch (`${name} ${shape}`) {
    case 'contains s':
      return text.includes(a)
    case 'startsWith s':
      return text.startsWith(a)
    case 'endsWith s':
      return text.endsWith(a)
    case 'matches s':
      return matches(text, a, spend)
    case 'lowerAscii ':
      return text.replace(/[A-Z]/g, letter => letter.toLowerCase())
    case 'upperAscii ':
      return text.replace(/[a-z]/g, letter => letter.toUpperCase())
    case 'trim ':
      return text.replace(SPACES, '')
    case 'reverse ':
      return [...text].reverse().join('')
    case 'strings.quote ':
      return limited(quoted(text), spend)
    case 'replace ss':
      return replaced(text, a, b, -1n, spend)
    case 'replace ssn':
      return replaced(text, a, b, numbers[0]!, spend)
    case 'split s':
      return split(text, a, -1n, spend)
    case 'split sn':
      return split(text, a, numbers[0]!, spend)
    default:
      return byPlace(`${name} ${shape}`, [...text], a, numbers)
  }
}

/** Functions that count characters. */
function byPlace(
  what: string,
  chars: readonly string[],
  search: string,
  [from, to]: readonly bigint[],
): CelValue | undefined {
  const wanted = [...search]
  const place = (at: bigint, limit = chars.length) => {
    if (at < 0n || at > BigInt(limit)) throw new CelError(`index out of range: ${at}`)
    return Number(at)
  }
  switch (what) {
    case 'charAt n':
      return chars[place(from!)] ?? ''
    case 'substring n':
      return chars.slice(place(from!)).join('')
    case 'substring nn':
      if (from! > to!) throw new CelError('invalid substring range')
      return chars.slice(place(from!), place(to!)).join('')
    case 'indexOf s':
      return BigInt(indexOf(chars, wanted, 0))
    case 'indexOf sn':
      if (from! >= BigInt(chars.length)) return -1n
      return BigInt(indexOf(chars, wanted, place(from!)))
    case 'lastIndexOf s':
      return BigInt(lastIndexOf(chars, wanted, chars.length))
    case 'lastIndexOf sn':
      if (from! >= BigInt(chars.length)) return -1n
      return BigInt(lastIndexOf(chars, wanted, place(from!)))
    default:
      return undefined
  }
}

/** Of whole characters: a text is searched where it is, and its characters are counted. */
function indexOf(chars: readonly string[], wanted: readonly string[], from: number): number {
  const found = chars.slice(from).join('').indexOf(wanted.join(''))
  return found < 0 ? -1 : from + [...chars.slice(from).join('').slice(0, found)].length
}

function lastIndexOf(chars: readonly string[], wanted: readonly string[], from: number): number {
  const text = chars.slice(0, from + wanted.length).join('')
  const found = text.lastIndexOf(wanted.join(''))
  return found < 0 ? -1 : [...text.slice(0, found)].length
}

/** RE2 in linear time; unknown for a pattern that Go's engine may accept and ours does not. */
function matches(text: string, pattern: string, spend: Spend): boolean {
  const origin = { repository: '', file: '', line: 1, column: 1 }
  try {
    return containsPattern({ text: pattern, origin }, text, { spend: (_what, amount) => spend(amount) })
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    throw error.code === 'kustomize-invalid' ? new CelError(error.message) : new CelBudgetError(error.message)
  }
}

function limited(text: string, spend: Spend): string {
  if (text.length > MAX_TEXT) throw new CelError(`a text grows beyond ${MAX_TEXT} characters`)
  spend(text.length / 10)
  return text
}

function join(list: readonly CelValue[], [separator = '']: readonly CelValue[], spend: Spend): string | undefined {
  if (typeof separator !== 'string') return undefined
  let length = 0
  for (const item of list) {
    if (typeof item !== 'string') throw new CelError('no such overload')
    length += item.length + separator.length
  }
  if (length > MAX_TEXT) throw new CelError(`a text grows beyond ${MAX_TEXT} characters`)
  return limited(list.join(separator), spend)
}

function split(text: string, separator: string, limit: bigint, spend: Spend): CelValue {
  if (limit === 0n) return []
  const parts = separator === '' ? [...text] : text.split(separator)
  spend(parts.length)
  if (limit < 0n || BigInt(parts.length) <= limit) return parts
  const kept = parts.slice(0, Number(limit) - 1)
  return [...kept, parts.slice(Number(limit) - 1).join(separator)]
}

function replaced(text: string, search: string, by: string, limit: bigint, spend: Spend): CelValue {
  const parts = search === '' ? ['', ...text, ''] : text.split(search)
  const count = limit < 0n ? parts.length - 1 : Math.min(parts.length - 1, Number(limit))
  if (text.length + count * by.length > MAX_TEXT) throw new CelError(`a text grows beyond ${MAX_TEXT} characters`)
  const rest = parts.slice(count).join(search)
  return limited([...parts.slice(0, count), rest].join(by), spend)
}

const ESCAPED: Readonly<Record<string, string>> = {
  ...{ '\x07': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v' },
  ...{ '\\': '\\\\', '"': '\\"' },
}

const quoted = (text: string) => `"${[...text.toWellFormed()].map(char => ESCAPED[char] ?? char).join('')}"`
