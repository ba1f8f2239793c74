import { CelError } from './cel-error.ts'
import type { BinaryOperator } from './expression.ts'
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
