import { BailiwickError } from '../base/errors.ts'
import { oncePer } from '../base/once-per.ts'
import type { Origin } from '../base/origin.ts'
import {
  type Field,
  isAbsent,
  type ListNode,
  type MapNode,
  type Node,
  type ScalarNode,
  type ScalarValue,
  textNode,
} from '../kube/node.ts'
import table from './go-types.json' with { type: 'json' }

/**
 * A value after Go has decoded it into a type and encoded it again (runtime.DefaultUnstructuredConverter of
 * apimachinery): fields that the type does not have are gone, those that are always written are there. What does not
 * change stays the same node. Undefined where the value does not fit the type.
 */
export function goRoundTrip(node: Node, type: GoType): Node | undefined {
  if (isAbsent(node)) return zeroOf(type, node.origin)
  switch (type.type) {
    case 'string':
      return typeof scalarValue(node) === 'string' ? node : undefined
    case 'bool':
      return typeof scalarValue(node) === 'boolean' ? node : undefined
    case 'int32':
    case 'int64':
      return integer(node, type.type === 'int32' ? 32 : 64)
    case 'bytes':
      return base64(node)
    case 'pointer':
      return goRoundTrip(node, type.of)
    case 'list':
      return node.type === 'list' ? list(node, type.of) : undefined
    case 'map':
      return node.type === 'map' ? map(node, type.of) : undefined
    case 'struct':
      return node.type === 'map' ? struct(node, type.fields) : undefined
    case 'own':
      return ownRoundTrip(node, type.name)
  }
}

function scalarValue(node: Node): ScalarValue | undefined {
  return node.type === 'scalar' ? node.value : undefined
}

/** What Go writes for an unset value. */
function zeroOf(type: GoType, origin: Origin): Node {
  const scalar = (value: ScalarValue): ScalarNode => ({ type: 'scalar', value, origin })
  switch (type.type) {
    case 'string':
      return scalar('')
    case 'bool':
      return scalar(false)
    case 'int32':
    case 'int64':
      return scalar(0)
    case 'struct':
      return struct({ type: 'map', fields: new Map(), origin }, type.fields)!
    case 'own':
      return scalar(ownZero(type.name))
    default:
      return scalar(null)
  }
}

/** Go cuts what does not fit into an integer, and takes a float that has no fraction. */
function integer(node: Node, bits: number): Node | undefined {
  const value = scalarValue(node)
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined
  if (typeof value === 'number' && !Number.isInteger(value)) return undefined
  const exact = BigInt(value)
  const cut = BigInt.asIntN(bits, exact)
  if (cut === exact) return node
  return { type: 'scalar', value: Number.isSafeInteger(Number(cut)) ? Number(cut) : cut, origin: node.origin }
}

/** Base64 as encoding/json reads it: line breaks are skipped, padding is required. */
function base64(node: Node): Node | undefined {
  if (node.type === 'list') return bytes(node)
  const value = scalarValue(node)
  if (typeof value !== 'string') return undefined
  const text = value.replace(/[\r\n]/g, '')
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  const written = Buffer.from(text, 'base64').toString('base64')
  if (written === value) return node
  const opaque = node.type === 'scalar' && node.opaque ? { opaque: node.opaque } : {}
  return { ...textNode(written, node.origin), ...opaque }
}

/** Go takes a list of numbers for bytes, too, and keeps the lowest eight bits of each. */
function bytes(node: ListNode): Node | undefined {
  const numbers = node.items.map(item => (isAbsent(item) ? 0 : scalarValue(item)))
  const whole = numbers.filter(number => typeof number === 'bigint' || Number.isInteger(number))
  if (whole.length < numbers.length) return undefined
  const lowest = whole.map(number => Number(BigInt.asUintN(8, BigInt(number as number | bigint))))
  return textNode(Buffer.from(lowest).toString('base64'), node.origin)
}

function list(node: ListNode, of: GoType): Node | undefined {
  let items: Node[] | undefined
  for (const [index, item] of node.items.entries()) {
    const value = goRoundTrip(item, of)
    if (!value) return undefined
    if (value === item) continue
    items ??= [...node.items]
    items[index] = value
  }
  return items ? { ...node, items } : node
}

function map(node: MapNode, of: GoType): Node | undefined {
  let fields: Map<string, Field> | undefined
  for (const [key, field] of node.fields) {
    const value = goRoundTrip(field.value, of)
    if (!value) return undefined
    if (value === field.value) continue
    fields ??= new Map(node.fields)
    fields.set(key, { ...field, value })
  }
  return fields ? { ...node, fields } : node
}

function struct(node: MapNode, types: ReadonlyMap<string, GoField>): MapNode | undefined {
  let fields: Map<string, Field> | undefined
  let dropped: Map<string, Field> | undefined
  for (const [key, field] of node.fields) {
    const type = types.get(key)
    if (!type) {
      dropped ??= new Map()
      dropped.set(key, field)
    }
    const value = type ? goRoundTrip(field.value, type.value) : field.value
    if (!value) return undefined
    const isGone = !type || isOmitted(value, type)
    if (!isGone && value === field.value) continue
    fields ??= new Map(node.fields)
    if (isGone) fields.delete(key)
    else fields.set(key, { ...field, value })
  }
  for (const [key, type] of alwaysWritten(types)) {
    if (node.fields.has(key)) continue
    fields ??= new Map(node.fields)
    fields.set(key, { key: node.origin, value: zeroOf(type.value, node.origin) })
  }
  if (dropped) return { ...node, fields: fields ?? node.fields, dropped }
  return fields ? { ...node, fields } : node
}

/** The fields of a struct that are written even if unset. */
const alwaysWritten = oncePer((types: ReadonlyMap<string, GoField>): readonly (readonly [string, GoField])[] => {
  return [...types].filter(([, { value, omitEmpty, omitZero }]) => {
    return !omitZero && (!omitEmpty || value.type === 'struct' || value.type === 'own')
  })
})

/** `omitempty` leaves out zero scalars and empty lists, maps and pointers to nothing; a struct is never empty. */
function isOmitted(value: Node, { value: type, omitEmpty, omitZero }: GoField): boolean {
  const isNull = value.type === 'scalar' && value.value === null
  if (omitZero && isNull) return true
  if (!omitEmpty || type.type === 'struct' || type.type === 'own') return false
  if (isNull) return true
  if (type.type === 'pointer') return false
  if (value.type === 'list') return value.items.length === 0
  if (value.type === 'map') return value.fields.size === 0
  return value.value === '' || value.value === false || value.value === 0
}

/** A type of Go, as far as decoding and encoding an object depends on it. */
export type GoType =
  | { readonly type: 'string' | 'bool' | 'int32' | 'int64' | 'bytes' }
  | { readonly type: 'pointer' | 'list' | 'map'; readonly of: GoType }
  | { readonly type: 'struct'; readonly fields: ReadonlyMap<string, GoField> }
  | { readonly type: 'own'; readonly name: OwnEncoding }

/** Types that decode and encode themselves. */
type OwnEncoding = 'IntOrString' | 'Quantity' | 'Time' | 'MicroTime' | 'RawExtension' | 'FieldsV1'

interface GoField {
  readonly value: GoType
  /** Not written when it is empty in the sense of encoding/json: a struct never is. */
  readonly omitEmpty: boolean
  /** Not written when it is the zero value. */
  readonly omitZero: boolean
}

const structs = new Map<string, GoType>()
const kinds = new Map(
  Object.entries(table.kinds).flatMap(([apiVersion, group]) =>
    group.split(' ').map((entry): [string, string] => {
      const [kind = '', name = ''] = entry.split(':')
      return [`${apiVersion} ${kind}`, name]
    }),
  ),
)
const fieldsOf = new Map(Object.entries(table.types))

/**
 * The type that Flux (client-go 0.36) decodes objects of a kind into; undefined for a kind that it does not know, and
 * `no-object` for one that it knows as something else, on which it panics.
 */
export function goTypeOf(apiVersion: string, kind: string): GoType | 'no-object' | undefined {
  const name = kinds.get(`${apiVersion} ${kind}`)
  if (name === undefined) return undefined
  return name === '' ? 'no-object' : structNamed(name)
}

function structNamed(name: string): GoType {
  const known = structs.get(name)
  if (known) return known
  const fields = new Map<string, GoField>()
  // types may hold themselves
  const struct: GoType = { type: 'struct', fields }
  structs.set(name, struct)
  for (const text of (fieldsOf.get(name) ?? '').split(' ')) {
    if (text === '') continue
    const [, key = '', flags = '', code = ''] = /^([^:]+):([?~]*)(.+)$/.exec(text) ?? []
    fields.set(key, { value: parse(code), omitEmpty: flags.includes('?'), omitZero: flags.includes('~') })
  }
  return struct
}

function parse(code: string): GoType {
  const rest = code.slice(1)
  switch (code[0]) {
    case '*':
      return { type: 'pointer', of: parse(rest) }
    case '[':
      return { type: 'list', of: parse(rest) }
    case '{':
      return { type: 'map', of: parse(rest) }
    case '@':
      return structNamed(rest)
    case '!':
      return { type: 'own', name: rest as OwnEncoding }
    default:
      return { type: code as 'string' | 'bool' | 'int32' | 'int64' | 'bytes' }
  }
}

/** What such a type writes when unset. */
function ownZero(name: OwnEncoding): ScalarValue {
  if (name === 'Quantity') return '0'
  return name === 'IntOrString' ? 0 : null
}

/**
 * A value after a type that decodes and encodes itself has read and written it. Undefined where it does not fit. Throws
 * `flux-unsupported` for times in forms that only Go's lenient reader takes.
 */
function ownRoundTrip(node: Node, name: OwnEncoding): Node | undefined {
  if (name === 'RawExtension' || name === 'FieldsV1') return node
  if (node.type !== 'scalar') return undefined
  const { value, origin } = node
  if (name === 'IntOrString') {
    const fits = typeof value === 'string' || (typeof value === 'number' && (value | 0) === value)
    return fits ? node : undefined
  }
  if (name === 'Quantity') {
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return undefined
    const written = canonicalQuantity(String(value), origin)
    if (written === undefined) return undefined
    return written === value ? node : textNode(written, origin)
  }
  if (typeof value !== 'string') return undefined
  const written = canonicalTime(value, name === 'MicroTime')
  if (written === 'unsure') {
    throw new BailiwickError('flux-unsupported', 'the time is not in RFC 3339 format', {
      origin,
      fix: 'Write it like 2024-01-31T12:00:00Z.',
    })
  }
  if (written === undefined) return undefined
  return written === value ? node : textNode(written, origin)
}

const STRICT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[-+]\d\d:\d\d)$/
const LENIENT = /^\d{4}-\d\d-\d\dT\d/

/** A time in UTC, cut to seconds or to microseconds; undefined for what Go refuses. */
function canonicalTime(text: string, micro: boolean): string | 'unsure' | undefined {
  const match = STRICT.exec(text)
  if (!match) return LENIENT.test(text) ? 'unsure' : undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone = 'Z'] = match
  if (micro && fraction.length !== 6) return undefined
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  const shown = new Date(local).toISOString().slice(0, 19)
  if (shown !== `${year}-${month}-${day}T${hour}:${minute}:${second}`) return undefined
  const [zoneHours = 0, zoneMinutes = 0] = zone === 'Z' ? [] : zone.slice(1).split(':').map(Number)
  if (zoneHours > 24 || zoneMinutes >= 60) return undefined
  const offset = (zoneHours * 60 + zoneMinutes) * (zone.startsWith('-') ? -60_000 : 60_000)
  const utc = new Date(local - offset).toISOString()
  if (!/^\d{4}-/.test(utc)) return 'unsure'
  return `${utc.slice(0, 19)}${micro ? `.${fraction}` : ''}Z`
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const MAX = 2n ** 63n - 1n
/** Beyond this Go's own answer is an accident. */
const MAX_EXPONENT = 18
const MAX_LENGTH = 64

interface Parsed {
  readonly negative: boolean
  /** Digits without leading zeros, and those after the point. */
  readonly whole: string
  readonly fraction: string
  readonly format: 'decimal' | 'exponent' | 'binary'
  /** Of ten, or of two. */
  readonly exponent: number
}

/**
 * A quantity as Kubernetes writes it (apimachinery pkg/api/resource): one that it takes for canonical stays as it was
 * written, others get no fraction and the largest suffix that needs none (`1000m` is `1`, `0.5` is `500m`, `1024Mi` is
 * `1Gi`). Undefined for an invalid one. Throws `flux-unsupported` for numbers beyond what suffixes can say.
 */
export function canonicalQuantity(text: string, origin: Origin): string | undefined {
  const trimmed = text.replace(/^[\p{Zs}\u0085]+|[\p{Zs}\u0085]+$/gu, '')
  if (trimmed === '') return undefined
  if (trimmed.length > MAX_LENGTH) throw tooLarge(origin)
  const parsed = parseQuantity(trimmed)
  if (parsed === 'zero') return '0'
  if (parsed === undefined) return undefined
  if (Math.abs(parsed.exponent) > (parsed.format === 'binary' ? 60 : MAX_EXPONENT)) throw tooLarge(origin)
  return isKept(parsed) ? trimmed : writtenQuantity(parsed, origin)
}

function parseQuantity(text: string): Parsed | 'zero' | undefined {
  const match = /^([-+]?)(0*)(\d*)(?:(\.)(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text)
  if (!match) return undefined
  const [, sign, , whole = '', point, fraction = '', suffix = ''] = match
  if (whole === '' && point === undefined && suffix === '') return 'zero'
  const meaning = suffixMeaning(suffix)
  return meaning && { negative: sign === '-', whole: whole || '0', fraction, ...meaning }
}

function suffixMeaning(suffix: string): Pick<Parsed, 'format' | 'exponent'> | undefined {
  const binary = BINARY.indexOf(suffix)
  if (binary > 0) return { format: 'binary', exponent: 10 * binary }
  const decimal = DECIMAL.indexOf(suffix)
  if (decimal >= 0) return { format: 'decimal', exponent: 3 * decimal - 9 }
  const digits = /^[eE]([-+]?\d+)$/.exec(suffix)?.[1]
  return digits === undefined ? undefined : { format: 'exponent', exponent: Number(digits) }
}

/** Whether Go keeps the text that it read. */
function isKept({ whole, fraction, format, exponent }: Parsed): boolean {
  const digits = whole + fraction
  if (format === 'binary') {
    if (fraction !== '' || 14 - whole.length - Math.floor((exponent * 3) / 10) < 0) return false
    return BigInt(whole) << BigInt(exponent) <= MAX && (BigInt(whole) & 7n) !== 0n
  }
  const scale = exponent - fraction.length
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
}

function writtenQuantity(parsed: Parsed, origin: Origin): string {
  const { whole, fraction, format, exponent } = parsed
  // in units of one n, rounded up
  const shift = 9 - fraction.length + (format === 'binary' ? 0 : exponent)
  let nano = BigInt(whole + fraction) * (format === 'binary' ? 2n ** BigInt(exponent) : 1n)
  if (shift >= 0) nano *= 10n ** BigInt(shift)
  else nano = (nano + 10n ** BigInt(-shift) - 1n) / 10n ** BigInt(-shift)
  if (format === 'binary' && nano > MAX * 10n ** 9n) nano = MAX * 10n ** 9n
  if (nano === 0n) return '0'
  const minus = parsed.negative ? '-' : ''
  const one = 10n ** 9n
  if (format === 'binary' && nano >= 1024n * one && nano % one === 0n) {
    const [amount, index] = withoutFactors(nano / one, 1024n)
    if (index >= BINARY.length) throw tooLarge(origin)
    return `${minus}${amount}${BINARY[index]}`
  }
  const [amount, index] = withoutFactors(nano, 1000n)
  if (format !== 'exponent') {
    if (index >= DECIMAL.length) throw tooLarge(origin)
    return `${minus}${amount}${DECIMAL[index]}`
  }
  const power = 3 * index - 9
  return `${minus}${amount}${power === 0 ? '' : `e${power}`}`
}

function withoutFactors(amount: bigint, factor: bigint): [bigint, number] {
  let rest = amount
  let count = 0
  for (; rest % factor === 0n; count++) rest /= factor
  return [rest, count]
}

function tooLarge(origin: Origin): BailiwickError {
  const message = 'the quantity is out of range for a suffix'
  return new BailiwickError('flux-unsupported', message, { origin, fix: 'Write it with a suffix such as M or Gi.' })
}
