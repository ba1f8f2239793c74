import type { Origin } from '../../base/origin.ts'
import type { ScalarNode, ScalarValue } from '../node.ts'
import { refuseAmbiguous, TAB } from './cursor.ts'
import { LITERAL, PLAIN } from './tokens.ts'

/** What a plain text may be besides text, by its first character. */
const HINTS: readonly (string | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const first = String.fromCharCode(code)
  if (/[-+0-9]/.test(first)) return 'number'
  if (first === '.') return 'dot'
  return /[~nNtTfF]/.test(first) ? 'word' : undefined
})
const SHORT_INTEGER = /^[1-9][0-9]{0,14}$/
const NULLS = new Set(['~', 'null', 'Null', 'NULL'])
const BOOLEANS = new Map([
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
])
const NOT_FINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
export const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const LONGEST = 64
const MIN_INT64 = -(2n ** 63n)
const MAX_UINT64 = 2n ** 64n - 1n

/**
 * The value that a plain scalar has for go-yaml v3, which kustomize and Flux read resources with: octal with and without
 * `o`, binary, hexadecimal, underscores, dates. `undefined` for text that makes a build fail or that its own releases
 * read differently (infinities, signs inside a number). See resolve.go of go.yaml.in/yaml/v3.
 */
export function resolvePlain(text: string): ScalarValue | undefined {
  switch (HINTS[text.charCodeAt(0)]) {
    case undefined:
      return text === '' ? null : text
    case 'word':
      return resolveWord(text)
    case 'dot':
      if (NOT_FINITE.test(text)) return undefined
      return /^\.[0-9]+(?:[eE][-+]?[0-9]+)?$/.test(text) ? finiteOr(text, text) : text
    default:
      return SHORT_INTEGER.test(text) ? Number(text) : resolveNumber(text)
  }
}

function resolveWord(text: string): ScalarValue {
  if (NULLS.has(text)) return null
  return BOOLEANS.get(text) ?? text
}

function resolveNumber(text: string): ScalarValue | undefined {
  if (NOT_FINITE.test(text)) return undefined
  if (/^[0-9]{4}-/.test(text)) return resolveTimestamp(text)
  const plain = text.replaceAll('_', '')
  if (/^[-+]?0[bBoOxX][-+]/.test(plain)) return undefined
  const integer = parseInteger(plain)
  if (integer !== undefined) return integer
  return FLOAT.test(plain) ? finiteOr(plain, text) : text
}

/** Go's strconv.ParseInt with base 0, then ParseUint; undefined where neither takes the text. */
export function parseInteger(plain: string): number | bigint | undefined {
  const match = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|(0|[1-9][0-9]*))$/.exec(plain)
  if (!match) return undefined
  const [, sign, hex, binary, octal, oldOctal, decimal] = match
  const prefixed = hex ? `0x${hex}` : binary ? `0b${binary}` : (octal ?? oldOctal) ? `0o${octal ?? oldOctal}` : decimal!
  // more digits are beyond 64 bits in any base, and slow to read
  if (prefixed.length > LONGEST && prefixed.replace(/^(?:0[xbo])?0*/, '').length > LONGEST) return undefined
  const magnitude = BigInt(prefixed)
  const value = sign === '-' ? -magnitude : magnitude
  const max = sign ? 2n ** 63n - 1n : MAX_UINT64
  if (value < MIN_INT64 || value > max) return undefined
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function finiteOr(number: string, text: string): number | string {
  const value = Number(number)
  if (!Number.isFinite(value)) return text
  return value === 0 ? 0 : value
}

/** go-yaml turns some dates into a time, which JSON then shows in RFC 3339. */
function resolveTimestamp(text: string): ScalarValue | undefined {
  const match =
    /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt]([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]+))?(Z|[-+][0-9]{2}:[0-9]{2})|( [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?))?$/.exec(
      text,
    )
  if (!match) return /^[0-9]+$/.test(text.replaceAll('_', '')) ? undefined : text
  const [, year, month, day, hour, minute, second, fraction, zone, spaced] = match
  if (spaced) return undefined
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  date.setUTCFullYear(Number(year))
  if (date.getUTCMonth() + 1 !== Number(month) || date.getUTCDate() !== Number(day)) return text
  const ymd = `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  if (hour === undefined) return `${ymd}T00:00:00Z`
  if (minute!.length < 2 || second!.length < 2 || hour.length < 2) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return text
  if (zone === '+00:00' || zone === '-00:00' || (fraction?.length ?? 0) > 9) return undefined
  const digits = fraction?.replace(/0+$/, '')
  return `${ymd}T${hour}:${minute}:${second}${digits ? `.${digits}` : ''}${zone}`
}

/**
 * The scalar that a plain text stands for. Throws `yaml-ambiguous` for one that readers take for different values; inside
 * brackets (`flow`) also for times, which kustomize writes back in quotes.
 */
export function plainScalar(text: string, flow: boolean, origin: Origin): ScalarNode {
  const value = resolvePlain(text)
  if (value === text) return { type: 'scalar', value, origin }
  if (flow && text.includes(':')) refuseAmbiguous('a time inside brackets', origin)
  if (value === undefined) refuseAmbiguous('a number or date that not all of them know', origin)
  return String(value) === text ? { type: 'scalar', value, origin } : { type: 'scalar', value, origin, text }
}

/** The scalar of a quoted text (or one tagged as text) or of a text block, `indent` spaces before each of its lines. */
export function textScalar(kind: number, value: string, indent: number, origin: Origin): ScalarNode {
  if (kind < LITERAL) return { type: 'scalar', value, origin, quoted: true }
  // kustomize writes it without saying how far it is indented, and then fails to read it
  if (value.startsWith('\t')) refuseAmbiguous('a text block that starts with a tab', origin)
  if (kind !== LITERAL) return { type: 'scalar', value, origin, style: 'folded' }
  return { type: 'scalar', value, origin, style: 'literal', indent: value.trim() === '' ? 0 : indent }
}

/** A value that is not there: null, and written as nothing. */
export function absentScalar(origin: Origin): ScalarNode {
  return { type: 'scalar', value: null, origin, text: '' }
}

/** Whether a text needs quotes: without them YAML reads it as a merge key, or as something else than a text. */
export function isSpecialText(text: string): boolean {
  return resolvePlain(text) !== text || text === '<<' || (text.charCodeAt(0) < 0x3a && TIME.test(text))
}

/** Whether a key stays what it is when kustomize writes an object as text and reads it back; most do. */
export function isOrdinaryKey(key: string): boolean {
  return key.length <= 500 && key.charCodeAt(0) !== TAB && !isSpecialText(key)
}

/** The same of a value. */
export function isOrdinaryScalar({ value, style, untyped }: ScalarNode): boolean {
  return style !== 'folded' && !untyped && (typeof value !== 'string' || value.charCodeAt(0) !== TAB)
}

/** As which a time stays the text that it was. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[-+]\d\d:\d\d)$/

/** Whether a scalar is text for every reader when it stands as a key. */
export function isTextKey(kind: number, text: string): boolean {
  return kind !== PLAIN || typeof resolvePlain(text) === 'string'
}
