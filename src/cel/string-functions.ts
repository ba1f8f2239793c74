import { BailiwickError } from '../errors.ts'
import { parsePattern } from '../kustomize/select/parse-pattern.ts'
import { containsPattern } from '../kustomize/select/pattern.ts'
import { PatternError } from '../kustomize/select/pattern-error.ts'
import { CelBudgetError, CelError } from './cel-error.ts'
import { type CelValue, isList } from './values.ts'

type Spend = (steps: number) => void

/** White space of Go. */
const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const SPACES = new RegExp(`^${SPACE}|${SPACE}$`, 'gu')

/** How far a text may grow: `join`, `replace` and `quote` make longer ones. */
const MAX_TEXT = 1_000_000

/** A function of a text (CEL, and cel-go's ext.Strings); undefined: no function of that name takes such arguments. */
export function stringFunction(name: string, args: readonly CelValue[], spend: Spend): CelValue | undefined {
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

/** RE2 in linear time; what the engine does not know is no match that can be relied on. */
function matches(text: string, pattern: string, spend: Spend): boolean {
  const origin = { repository: '', file: '', line: 1, column: 1 }
  try {
    return containsPattern({ text: pattern, origin }, text, { spend: (_what, amount) => spend(amount) })
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    // Go's engine may accept a pattern that ours does not support, so the result is unknown
    if (isInvalid(pattern)) throw new CelError(error.message)
    throw new CelBudgetError(error.message)
  }
}

function isInvalid(pattern: string): boolean {
  try {
    parsePattern(pattern)
    return false
  } catch (error) {
    return error instanceof PatternError && error.invalid
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
