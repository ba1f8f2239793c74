import { parseQuantity } from '../../expr/libraries/quantity.ts'
import {
  argument,
  type ContextValue,
  type KyvernoFunctions,
  known,
  listOf,
  NotEvaluatedError,
  numberOf,
  RuleError,
} from './values.ts'

const ANY = ['any'] as const

/**
 * Arithmetic of numbers, and the ratio of two quantities (pkg/engine/jmespath/arithmetic.go of Kyverno). What yields a quantity or
 * reads a duration is not evaluated.
 */
export const ARITHMETIC: KyvernoFunctions = {
  add: ofNumbers((a, b) => a + b),
  subtract: ofNumbers((a, b) => a - b),
  multiply: ofNumbers((a, b) => a * b),
  modulo: ofNumbers((a, b) => {
    if (!Number.isInteger(a) || !Number.isInteger(b)) throw new RuleError('modulo: not an integer')
    if (b === 0) throw zero()
    return a % b
  }),
  sum: {
    takes: [['array']],
    call: args => {
      const [first, ...others] = listOf(args, 0)
      if (first === undefined) throw new RuleError('sum: at least one element is required')
      return others.reduce<ContextValue>((sum, one) => operand(sum) + operand(one), first)
    },
  },
  divide: {
    takes: [ANY, ANY],
    call: args => {
      const [a, b] = [known(argument(args, 0)), known(argument(args, 1))]
      const [first, second] = [a, b].map(one => (typeof one === 'string' ? parseQuantity(one) : undefined))
      const [over, under] =
        first !== undefined && second !== undefined ? [Number(first), Number(second)] : [operand(a), operand(b)]
      if (under === 0) throw zero()
      return over / under
    },
  },
  round: {
    takes: [['number'], ['number']],
    call: args => {
      const [number, digits] = [numberOf(args, 0), numberOf(args, 1)]
      if (!Number.isInteger(digits) || digits < 0) throw new RuleError('round: the length is not a natural number')
      const shift = 10 ** digits
      const size = Math.abs(number) * shift
      const rounded = size - Math.floor(size) >= 0.5 ? Math.floor(size) + 1 : Math.floor(size)
      return (Math.sign(number) * rounded) / shift
    },
  },
}

const zero = () => new RuleError('division by zero')

function ofNumbers(call: (a: number, b: number) => number): KyvernoFunctions[string] {
  return { takes: [ANY, ANY], call: args => call(operand(argument(args, 0)), operand(argument(args, 1))) }
}

function operand(value: ContextValue): number {
  const plain = known(value)
  if (typeof plain === 'number') return plain
  if (typeof plain === 'string') throw new NotEvaluatedError('arithmetic of quantities and durations is not supported')
  throw new RuleError('invalid operand')
}
