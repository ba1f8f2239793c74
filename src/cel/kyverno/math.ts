import { CelError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { type CelValue, compare, isList, Unsigned } from '../values.ts'

/** cel-go's ext.Math, and `math.round` with a number of digits (kyverno/sdk extensions/cel/libs/math). */
export const MATH: FunctionTable = {
  functions: {
    'math.greatest': args => extreme(args, 1),
    'math.least': args => extreme(args, -1),
    'math.ceil': ofDouble(Math.ceil),
    'math.floor': ofDouble(Math.floor),
    'math.trunc': ofDouble(Math.trunc),
    'math.round': ([value, digits]) => {
      if (typeof value !== 'number') return undefined
      if (digits === undefined) return awayFromZero(value)
      return typeof digits === 'bigint' ? awayFromZero(value * 10 ** Number(digits)) / 10 ** Number(digits) : undefined
    },
    'math.sqrt': ([value]) => (isNumber(value) ? Math.sqrt(Number(plain(value))) : undefined),
    'math.isNaN': ([value]) => (typeof value === 'number' ? Number.isNaN(value) : undefined),
    'math.isInf': ([value]) => (typeof value === 'number' ? Math.abs(value) === Number.POSITIVE_INFINITY : undefined),
    'math.isFinite': ([value]) => (typeof value === 'number' ? Number.isFinite(value) : undefined),
    'math.abs': ([value]) => {
      if (typeof value === 'bigint') return value === MIN_INT ? overflow() : value < 0n ? -value : value
      return typeof value === 'number' ? Math.abs(value) : value instanceof Unsigned ? value : undefined
    },
    'math.sign': ([value]) => {
      if (typeof value === 'bigint') return value > 0n ? 1n : value < 0n ? -1n : 0n
      if (value instanceof Unsigned) return new Unsigned(value.value > 0n ? 1n : 0n)
      return typeof value === 'number' ? Math.sign(value) : undefined
    },
    'math.bitAnd': bits((a, b) => a & b),
    'math.bitOr': bits((a, b) => a | b),
    'math.bitXor': bits((a, b) => a ^ b),
    'math.bitNot': ([value]) => {
      if (value instanceof Unsigned) return new Unsigned(BigInt.asUintN(64, ~value.value))
      return typeof value === 'bigint' ? ~value : undefined
    },
    'math.bitShiftLeft': shift((value, by) => value << by),
    'math.bitShiftRight': shift((value, by) => value >> by),
  },
}

const MIN_INT = -(2n ** 63n)

function overflow(): never {
  throw new CelError('integer overflow')
}

const isNumber = (value: CelValue | undefined): value is bigint | number | Unsigned =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof Unsigned

const plain = (value: bigint | number | Unsigned) => (value instanceof Unsigned ? value.value : value)

/** Of numbers of all types, or of one list of them. */
function extreme(args: readonly CelValue[], wanted: 1 | -1): CelValue | undefined {
  const [first] = args
  const all = args.length === 1 && first !== undefined && isList(first) ? first : args
  if (all.length === 0) throw new CelError('math.@max(list) argument must not be empty')
  if (!all.every(isNumber)) return undefined
  return all.reduce((best, one) => (compare(one, best) * wanted > 0 ? one : best))
}

function ofDouble(change: (value: number) => number) {
  return ([value]: readonly CelValue[]) => (typeof value === 'number' ? change(value) : undefined)
}

/** As Go's math.Round: half away from zero. */
function awayFromZero(value: number): number {
  const whole = Math.trunc(value)
  return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole
}

function bits(change: (a: bigint, b: bigint) => bigint) {
  return ([a, b]: readonly CelValue[]): CelValue | undefined => {
    if (a instanceof Unsigned && b instanceof Unsigned) return new Unsigned(change(a.value, b.value))
    return typeof a === 'bigint' && typeof b === 'bigint' ? change(a, b) : undefined
  }
}

function shift(change: (value: bigint, by: bigint) => bigint) {
  return ([value, by]: readonly CelValue[]): CelValue | undefined => {
    if (typeof by !== 'bigint' || !(typeof value === 'bigint' || value instanceof Unsigned)) return undefined
    if (by < 0n) throw new CelError('math shift negative offset')
    const moved = by > 63n ? 0n : change(BigInt.asUintN(64, typeof value === 'bigint' ? value : value.value), by)
    return value instanceof Unsigned ? new Unsigned(BigInt.asUintN(64, moved)) : BigInt.asIntN(64, moved)
  }
}
