import { CelError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { type CelValue, LibraryValue } from '../values.ts'
import { BINARY, DECIMAL, parseQuantity } from './parse-quantity.ts'

/** A quantity of Kubernetes, exact: `value` is it times 10^9. */
class Quantity extends LibraryValue {
  readonly typeName = 'kubernetes.Quantity'
  readonly nanos: bigint
  /** The power of ten if Go stores the quantity as an int64; undefined if as a decimal. CEL converts only the former to an integer. */
  readonly scale: number | undefined
  constructor(nanos: bigint, scale: number | undefined) {
    super()
    this.nanos = nanos
    this.scale = scale
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Quantity && other.nanos === this.nanos
  }
}

const NANO = 1_000_000_000n
const MAX_INT = 2n ** 63n

/** resource.Quantity, as Kubernetes gives it to CEL (k8s.io/apiserver pkg/cel/library/quantity.go). */
export const QUANTITY: FunctionTable = {
  functions: {
    quantity: ([text]) => (typeof text === 'string' ? quantityOf(text) : undefined),
    isQuantity: ([text]) => (typeof text === 'string' ? parseQuantity(text) !== undefined : undefined),
  },
  methods: {
    sign: ([one]) => (one instanceof Quantity ? (one.nanos > 0n ? 1n : one.nanos < 0n ? -1n : 0n) : undefined),
    isInteger: ([one]) => (one instanceof Quantity ? isInteger(one) : undefined),
    asInteger: ([one]) => {
      if (!(one instanceof Quantity)) return undefined
      if (!isInteger(one)) throw new CelError('cannot convert value to integer')
      return one.nanos / NANO
    },
    asApproximateFloat: ([one]) => (one instanceof Quantity ? Number(one.nanos) / 1e9 : undefined),
    add: ([one, other]) => combined(one, other, (a, b) => a + b),
    sub: ([one, other]) => combined(one, other, (a, b) => a - b),
    isGreaterThan: ([one, other]) => compared(one, other, (a, b) => a > b),
    isLessThan: ([one, other]) => compared(one, other, (a, b) => a < b),
    compareTo: ([one, other]) => compared(one, other, (a, b) => (a > b ? 1n : a < b ? -1n : 0n)),
  },
}

function quantityOf(text: string): Quantity {
  const nanos = parseQuantity(text)
  if (nanos === undefined) throw new CelError('quantities must match the regular expression')
  return new Quantity(nanos, scaleOf(text))
}

/** The power of ten that Go's fast parser stores for a quantity; undefined where Go uses the slow parser. */
function scaleOf(text: string): number | undefined {
  const [, whole = '', fraction = '', suffix = ''] = /^[+-]?0*(\d*)(?:\.(\d*))?(.*)$/.exec(text) ?? []
  const digits = Math.max(whole.length, 1) + fraction.length
  const power = BINARY.indexOf(suffix)
  if (power >= 0) {
    const isFast = fraction === '' && 15 - digits - Math.trunc((10 * (power + 1) * 3) / 10) - 1 >= 0
    return isFast ? 0 : undefined
  }
  const scale = (DECIMAL.get(suffix) ?? Number(suffix.slice(1))) - fraction.length
  return digits <= 18 && scale >= -9 ? scale : undefined
}

const isInteger = ({ nanos, scale }: Quantity) =>
  scale !== undefined && scale >= 0 && nanos / NANO < MAX_INT && nanos / NANO >= -MAX_INT

function combined(one: CelValue | undefined, other: CelValue | undefined, made: (a: bigint, b: bigint) => bigint) {
  if (!(one instanceof Quantity)) return undefined
  const second = typeof other === 'bigint' ? new Quantity(other * NANO, 0) : other
  if (!(second instanceof Quantity)) return undefined
  const scales = [one, second].flatMap(({ nanos, scale }) => (nanos === 0n ? [] : [scale]))
  const scale = scales.includes(undefined) ? undefined : Math.min(...(scales as number[]), 18)
  const nanos = made(one.nanos, second.nanos)
  const isSmall = scale !== undefined && sizeAt(nanos, scale) < MAX_INT
  return new Quantity(nanos, isSmall ? (scales.length === 0 ? 0 : scale) : undefined)
}

/** The absolute value of a quantity in units of 10^scale. */
function sizeAt(nanos: bigint, scale: number): bigint {
  const size = nanos < 0n ? -nanos : nanos
  return scale >= -9 ? size / 10n ** BigInt(scale + 9) : size
}

function compared<T>(one: CelValue | undefined, other: CelValue | undefined, answer: (a: bigint, b: bigint) => T) {
  return one instanceof Quantity && other instanceof Quantity ? answer(one.nanos, other.nanos) : undefined
}
