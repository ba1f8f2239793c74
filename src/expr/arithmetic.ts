import { type BinaryOperator, CelError, refuseLong } from './expression.ts'
import { AssociativeList, type CelValue, isList, Time, Unsigned } from './values.ts'

const INT_MAX = 2n ** 63n - 1n
const INT_MIN = -(2n ** 63n)
const UINT_MAX = 2n ** 64n - 1n

/** An integer of 64 bits. Throws CelError for a larger one. */
export function asInt(value: bigint): bigint {
  if (value > INT_MAX || value < INT_MIN) throw new CelError('integer overflow')
  return value
}

export function asUint(value: bigint): Unsigned {
  if (value > UINT_MAX || value < 0n) throw new CelError('unsigned integer overflow')
  return new Unsigned(value)
}

/** The range of a timestamp in Go: years 1 to 9999. */
const FIRST = -62_135_596_800n * 1_000_000_000n
const LAST = 253_402_300_800n * 1_000_000_000n

/** A timestamp or duration that fits Go's types. Throws CelError for a value out of range. */
export function asTime(kind: 'timestamp' | 'duration', nanos: bigint, zone = 0): Time {
  if (kind === 'duration') asInt(nanos)
  else if (nanos < FIRST || nanos >= LAST) throw new CelError('timestamp overflow')
  return new Time(kind, nanos, zone)
}

export function negate(value: CelValue): CelValue {
  if (typeof value === 'bigint') return asInt(-value)
  if (typeof value === 'number') return -value
  if (value instanceof Time && value.kind === 'duration') return asTime('duration', -value.nanos)
  throw new CelError('no such overload')
}

/** `+ - * / %` of two values of one type. Throws CelError where CEL has no such operation, and for overflow. */
export function arithmetic(
  operator: BinaryOperator,
  left: CelValue,
  right: CelValue,
  spend: (steps: number) => void,
): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return asInt(integers(operator, left, right))
  if (left instanceof Unsigned && right instanceof Unsigned) return asUint(integers(operator, left.value, right.value))
  if (typeof left === 'number' && typeof right === 'number' && operator !== '%') return doubles(operator, left, right)
  if (left instanceof Time && right instanceof Time) return times(operator, left, right)
  if (operator === '+') return joined(left, right, spend)
  throw new CelError('no such overload')
}

function integers(operator: BinaryOperator, left: bigint, right: bigint): bigint {
  if (operator === '+') return left + right
  if (operator === '-') return left - right
  if (operator === '*') return left * right
  if (right === 0n) throw new CelError(operator === '/' ? 'division by zero' : 'modulus by zero')
  // as the processor: the quotient of the smallest one and -1 is too large, also where only the rest is asked for
  if (left === INT_MIN && right === -1n) throw new CelError('integer overflow')
  return operator === '/' ? left / right : left % right
}

function doubles(operator: BinaryOperator, left: number, right: number): number {
  if (operator === '+') return left + right
  if (operator === '-') return left - right
  return operator === '*' ? left * right : left / right
}

function times(operator: BinaryOperator, left: Time, right: Time): CelValue {
  const [a, b] = [left.kind, right.kind]
  if (operator === '+' && !(a === 'timestamp' && b === 'timestamp')) {
    const isMoment = a === 'timestamp' || b === 'timestamp'
    return asTime(isMoment ? 'timestamp' : 'duration', left.nanos + right.nanos, left.zone || right.zone)
  }
  if (operator === '-' && (b === 'duration' || a === 'timestamp')) {
    return asTime(a === b ? 'duration' : 'timestamp', left.nanos - right.nanos, a === b ? 0 : left.zone)
  }
  throw new CelError('no such overload')
}

/** Texts, bytes and lists, which cost what they hold. */
function joined(left: CelValue, right: CelValue, spend: (steps: number) => void): CelValue {
  if (typeof left === 'string' && typeof right === 'string') {
    spend((left.length + right.length) / 10)
    return left + right
  }
  if (isList(left) && isList(right)) {
    spend(left.length + right.length)
    if (left instanceof AssociativeList) return merged(left, right)
    return [...left, ...right]
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    spend((left.length + right.length) / 10)
    return Uint8Array.from(Buffer.concat([left, right]))
  }
  throw new CelError('no such overload')
}

/** Items of the second list replace those with the same key; the rest are appended. */
function merged(left: AssociativeList, right: readonly CelValue[]): CelValue {
  const items = left.byKey()
  for (const item of right) {
    const key = left.keyOf(item)
    // a set keeps its own copy of an equal item
    if (left.names !== undefined || !items.has(key)) items.set(key, item)
  }
  return AssociativeList.with(items.values(), left.names)
}

const TIMESTAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:[.,](\d+))?(?:Z|([-+])(\d{2}):(\d{2}))$/
const DURATION = /^([-+]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g
const NANOS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  // Greek mu; the entry above uses the micro sign
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])
const LIKE_A_DURATION = /^[+-]?[\d.][\d.hmsnuµμ]*$/
const MAX_TEXT = 100

/** Nanoseconds since 1970 of an RFC 3339 text. */
export function readTimestamp(text: string): bigint | undefined {
  const [, seconds, fraction = ''] = TIMESTAMP.exec(text) ?? []
  const zone = zoneOf(text)
  const millis = Date.parse(`${seconds}Z`)
  // a day that the month does not have is another day to JavaScript
  const isDay = Number.isFinite(millis) && new Date(millis).toISOString().startsWith(seconds!)
  if (!isDay || zone === undefined) return undefined
  return BigInt(millis - zone * 60_000) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'))
}

/** The UTC offset of an RFC 3339 text in minutes, as far as Go parses it. */
export function zoneOf(text: string): number | undefined {
  const [all, , , sign, hours = '0', minutes = '0'] = TIMESTAMP.exec(text) ?? []
  if (all === undefined || Number(hours) > 24 || Number(minutes) > 60) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Nanoseconds of a duration as Go writes it, such as `1h30m`. Throws CelBudgetError for one that is too long. */
export function readGoDuration(text: string): bigint | undefined {
  refuseLong(text, MAX_TEXT, LIKE_A_DURATION)
  const [, sign, parts] = text.length > MAX_TEXT ? [] : (DURATION.exec(text) ?? [])
  if (parts === undefined) return undefined
  let sum = 0n
  for (const [, whole = '', fraction = '', unit] of parts.matchAll(PART)) {
    const nanos = NANOS.get(unit!)!
    sum += BigInt(whole || '0') * nanos + (BigInt(fraction || '0') * nanos) / 10n ** BigInt(fraction.length)
  }
  return sum >= 2n ** 63n ? undefined : sign === '-' ? -sum : sum
}
