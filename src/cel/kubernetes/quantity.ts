import { CelError } from '../cel-error.ts'
import type { FunctionTable } from '../function-library.ts'
import { type CelValue, LibraryValue } from '../values.ts'
import { parseQuantity } from './parse-quantity.ts'

/** A quantity of Kubernetes, exact: `value` is it times 10^9. */
class Quantity extends LibraryValue {
  readonly typeName = 'kubernetes.Quantity'
  readonly nanos: bigint
  constructor(nanos: bigint) {
    super()
    this.nanos = nanos
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
  return new Quantity(nanos)
}

const isInteger = ({ nanos }: Quantity) => nanos % NANO === 0n && nanos / NANO < MAX_INT && nanos / NANO >= -MAX_INT

function combined(one: CelValue | undefined, other: CelValue | undefined, made: (a: bigint, b: bigint) => bigint) {
  if (!(one instanceof Quantity)) return undefined
  if (typeof other === 'bigint') return new Quantity(made(one.nanos, other * NANO))
  return other instanceof Quantity ? new Quantity(made(one.nanos, other.nanos)) : undefined
}

function compared<T>(one: CelValue | undefined, other: CelValue | undefined, answer: (a: bigint, b: bigint) => T) {
  return one instanceof Quantity && other instanceof Quantity ? answer(one.nanos, other.nanos) : undefined
}
