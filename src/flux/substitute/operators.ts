import { type Spent, TemplateError, textOf } from './variables.ts'

export type Spend = (what: Spent, amount: number) => void

/** Operators with a default take it for any empty value, set or not, also those that mean something else to a shell. */
const DEFAULTS = new Set(['=', ':=', ':-', ':?', ':+'])

/** Whether an operator does without a value. */
export const isDefault = (operator: string): boolean => DEFAULTS.has(operator)

/**
 * What Flux makes of `value` with an operator. Offsets and lengths are in bytes, as in Go. Throws TemplateError where the
 * result would not be text, or depends on tables of characters that change with the version of Go.
 */
export function applyOperator(operator: string, value: string, args: readonly string[], spend: Spend): string {
  const [first = '', second = ''] = args
  switch (operator) {
    case 'length':
      return String(Buffer.byteLength(value))
    case '^':
    case '^^':
    case ',':
    case ',,':
      return letterCase(value, operator)
    case ':':
      return slice(value, first, args.length > 1 ? second : undefined)
    case '#':
    case '##':
      return value.slice(prefix(value, first, operator.length > 1, spend))
    case '%':
    case '%%':
      return reverse(reverse(value).slice(prefix(reverse(value), reverse(first), operator.length > 1, spend)))
    case '/':
      return replace(value, first, second, 1, spend)
    case '//':
      return replace(value, first, second, Number.POSITIVE_INFINITY, spend)
    case '/#':
      return args.length > 1 && value.startsWith(first) ? second + value.slice(first.length) : value
    case '/%':
      return args.length > 1 && value.endsWith(first) ? value.slice(0, value.length - first.length) + second : value
    default:
      return value === '' ? args.join('') : value
  }
}

/** Where a text would be cut inside a character there is not a string. */
function cut(bytes: Uint8Array, from: number, to = bytes.length): string {
  const text = textOf(bytes.subarray(from, to))
  if (text !== undefined) return text
  throw new TemplateError('the value is split inside a character', 'flux-unsupported')
}

const MAX_INT = 2n ** 63n - 1n

/** Go's strconv.Atoi; undefined where it fails. */
function integer(text: string): bigint | undefined {
  if (!/^[-+]?[0-9]{1,4000}$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return value > MAX_INT || value < -MAX_INT - 1n ? undefined : value
}

function slice(value: string, offset: string, length: string | undefined): string {
  const bytes = Buffer.from(value)
  const size = BigInt(bytes.length)
  const asked = integer(offset)
  if (asked === undefined) return value
  const start = asked >= 0n ? asked : asked + size > 0n ? asked + size : 0n
  if (length === undefined) return start < size ? cut(bytes, Number(start)) : ''
  const count = integer(length)
  if (count === undefined) return value
  if (count < 0n) return size + count < start ? '' : cut(bytes, Number(start), Number(size + count))
  if (start + count > MAX_INT) throw new TemplateError('the length of a part is out of range')
  if (start + count >= size) return start < size ? cut(bytes, Number(start)) : ''
  return cut(bytes, Number(start), Number(start + count))
}

/** How many characters of the value a glob takes from its beginning. */
function prefix(value: string, glob: string, longest: boolean, spend: Spend): number {
  const length = matchingPrefix(glob, value, longest ? 'longest' : 'shortest', n => spend('comparisons', n))
  return cut(Buffer.from(value), 0, length).length
}

const reverse = (text: string): string => [...text].reverse().join('')

/** An empty text is found before each character and at the end. */
function replace(value: string, old: string, by: string, times: number, spend: Spend): string {
  const parts = old === '' ? ['', ...value] : value.split(old)
  const count = old === '' ? Math.min(times, parts.length) : Math.min(times, parts.length - 1)
  spend('characters', value.length + count * by.length)
  if (old === '') return times === 1 ? by + value : [...value].map(character => by + character).join('') + by
  if (times === 1) return parts.length > 1 ? `${parts[0]}${by}${parts.slice(1).join(old)}` : value
  return parts.join(by)
}

/** Letters that got the other case only in Unicode 16 or later: Flux is built with a Go that knows Unicode 15. */
const LATER = /[\u019b\u0264\u1c89\u1c8a\ua7cb-\ua7dc\u{10d50}-\u{10d85}\u{16ea0}-\u{16ed3}]/u

/**
 * `^` and `^^` make the first or every letter a capital, `,` and `,,` a small one, each character by itself as Go does:
 * no character becomes two. Throws TemplateError for the few characters where Go and JavaScript differ.
 */
function letterCase(value: string, operator: '^' | '^^' | ',' | ',,'): string {
  const upper = operator.startsWith('^')
  if (operator.length === 1) {
    const [first = ''] = value
    return changed(first, upper) + value.slice(first.length)
  }
  return [...value].map(character => changed(character, upper)).join('')
}

function changed(character: string, upper: boolean): string {
  const result = upper ? character.toUpperCase() : character.toLowerCase()
  if ([...result].length === 1 && !LATER.test(character)) return result
  throw new TemplateError('the case of a character differs between Unicode versions', 'flux-unsupported')
}

/** One character of a glob that has a test of its own; `star` is any number of characters. */
type Element = 'star' | ((byte: number) => boolean)

/**
 * Length in bytes of the shortest or longest prefix of `text` that `pattern` matches; 0 where none does. The globs are
 * those of Go's path.Match, but a star takes slashes too. `spend` gets the number of comparisons before they are made.
 * Throws TemplateError for a broken glob, and where `?` or a class would meet characters of several bytes.
 */
function matchingPrefix(
  pattern: string,
  text: string,
  which: 'shortest' | 'longest',
  spend: (comparisons: number) => void,
): number {
  const bytes = Buffer.from(text)
  const glob = Buffer.from(pattern)
  const elements = compile(glob.toString('latin1'))
  if (!elements) throw new TemplateError('the pattern of # or % is not a valid glob', 'flux-unsupported')
  if (/[?[]/.test(pattern) && !(isAscii(bytes) && isAscii(glob))) {
    const message =
      'the glob of # or % has ? or [ beside characters that are not ASCII. Supported beside them: text and *'
    throw new TemplateError(message, 'flux-unsupported')
  }
  spend((elements.length + 1) * bytes.length)
  let best = 0
  for (const length of matches(elements, bytes)) {
    best = length
    if (which === 'shortest') break
  }
  return best
}

/** Lengths of the prefixes that match, shortest first: every state of the glob at once, so in linear time. */
function* matches(elements: readonly Element[], bytes: Uint8Array): Generator<number> {
  let states = new Uint8Array(elements.length + 1)
  states[0] = 1
  skipStars(elements, states)
  for (const [index, byte] of bytes.entries()) {
    const next = new Uint8Array(elements.length + 1)
    for (const [place, element] of elements.entries()) {
      if (!states[place]) continue
      if (element === 'star') next[place] = 1
      else if (element(byte)) next[place + 1] = 1
    }
    skipStars(elements, next)
    states = next
    if (states[elements.length]) yield index + 1
  }
}

function skipStars(elements: readonly Element[], states: Uint8Array): void {
  for (const [place, element] of elements.entries()) if (states[place] && element === 'star') states[place + 1] = 1
}

/** `pattern` has one character for each byte. Undefined for what path.Match calls a syntax error. */
function compile(pattern: string): Element[] | undefined {
  const elements: Element[] = []
  for (let at = 0; at < pattern.length; ) {
    const character = pattern.charAt(at)
    if (character === '[') {
      const found = compileClass(pattern, at + 1)
      if (!found) return undefined
      elements.push(found.test)
      at = found.end
      continue
    }
    if (character === '*') elements.push('star')
    else if (character === '?') elements.push(() => true)
    else {
      const code = pattern.charCodeAt(character === '\\' ? ++at : at)
      if (Number.isNaN(code)) return undefined
      elements.push(byte => byte === code)
    }
    at++
  }
  return elements
}

function compileClass(pattern: string, start: number): { test: (byte: number) => boolean; end: number } | undefined {
  const negated = pattern.charAt(start) === '^'
  const ranges: [number, number][] = []
  let at = negated ? start + 1 : start
  while (ranges.length === 0 || pattern.charAt(at) !== ']') {
    const low = member(pattern, at)
    if (!low) return undefined
    at = low.end
    const high = pattern.charAt(at) === '-' ? member(pattern, at + 1) : low
    if (!high) return undefined
    at = high.end
    ranges.push([low.code, high.code])
  }
  return { test: byte => ranges.some(([low, high]) => low <= byte && byte <= high) !== negated, end: at + 1 }
}

function member(pattern: string, at: number): { code: number; end: number } | undefined {
  const first = pattern.charAt(at)
  if (first === '' || first === '-' || first === ']') return undefined
  const place = first === '\\' ? at + 1 : at
  // something has to follow: a class is closed
  return place + 1 < pattern.length ? { code: pattern.charCodeAt(place), end: place + 1 } : undefined
}

const isAscii = (bytes: Uint8Array): boolean => bytes.every(byte => byte < 0x80)
