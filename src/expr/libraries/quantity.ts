import { CelBudgetError, CelError, refuseLong } from '../expression.ts'
import { type CelValue, type FunctionTable, LibraryValue } from '../values.ts'

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

const QUANTITY_TEXT = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const LIKE_A_QUANTITY = /^[+-]?[\d.]+(?:[A-Za-z]{0,2}|[eE][+-]?\d+)$/
const MAX_TEXT = 500
const MAX_EXPONENT = 1_000
const MAX_BYTES = (2n ** 63n - 1n) * 1_000_000_000n

/**
 * A quantity times 10^9, rounded up as the API server rounds (resource.ParseQuantity of k8s.io/apimachinery); undefined for
 * a text that is not a quantity. Throws CelBudgetError for one that is too long, or has too large an exponent.
 */
export function parseQuantity(text: string): bigint | undefined {
  refuseLong(text, MAX_TEXT, LIKE_A_QUANTITY)
  const [, sign, whole = '', fraction, suffix = ''] = text.length > MAX_TEXT ? [] : (QUANTITY_TEXT.exec(text) ?? [])
  // a suffix or sign without digits is zero; an empty text is not a quantity
  if (sign === undefined || text === '') return undefined
  const digits = BigInt(whole + (fraction ?? ''))
  const scale = (fraction ?? '').length
  const binary = BINARY.indexOf(suffix)
  const decimal = DECIMAL.get(suffix)
  let numerator = digits * 1_000_000_000n
  let exponent = -scale
  if (binary >= 0) numerator *= 1024n ** BigInt(binary + 1)
  else exponent += decimal ?? Number(suffix.slice(1))
  if (Math.abs(exponent) > MAX_EXPONENT) throw new CelBudgetError(`a quantity with an exponent beyond ${MAX_EXPONENT}`)
  if (exponent >= 0) numerator *= 10n ** BigInt(exponent)
  else {
    const divisor = 10n ** BigInt(-exponent)
    numerator = (numerator + divisor - 1n) / divisor
  }
  // Kubernetes caps a binary quantity at the largest int64
  if (binary >= 0 && numerator > MAX_BYTES) numerator = MAX_BYTES
  return sign === '-' ? -numerator : numerator
}
