import { argument, type KyvernoFunctions, listOf, numberOf } from './jmespath-function.ts'
import { durationText, type Operand, operandOf, quantityOf, quantityText, scaleOf } from './operand.ts'
import { type ContextValue, RuleError } from './values.ts'

const ANY = ['any'] as const

/** Arithmetic of numbers, quantities and durations (pkg/engine/jmespath/arithmetic.go of Kyverno). */
export const ARITHMETIC: KyvernoFunctions = {
  add: { takes: [ANY, ANY], call: args => added(operandOf(argument(args, 0)), operandOf(argument(args, 1)), 1) },
  subtract: { takes: [ANY, ANY], call: args => added(operandOf(argument(args, 0)), operandOf(argument(args, 1)), -1) },
  sum: {
    takes: [['array']],
    call: args => {
      const [first, ...others] = listOf(args, 0)
      if (first === undefined) throw new RuleError('sum: at least one element is required')
      return others.reduce((sum, one) => added(operandOf(sum), operandOf(one), 1), first)
    },
  },
  multiply: {
    takes: [ANY, ANY],
    call: args => {
      const [a, b] = [operandOf(argument(args, 0)), operandOf(argument(args, 1))]
      return a.type === 'number' && b.type !== 'number' ? multiplied(b, a) : multiplied(a, b)
    },
  },
  divide: { takes: [ANY, ANY], call: args => divided(operandOf(argument(args, 0)), operandOf(argument(args, 1))) },
  modulo: { takes: [ANY, ANY], call: args => remainder(operandOf(argument(args, 0)), operandOf(argument(args, 1))) },
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

const NANO = 1_000_000_000n
const mismatch = () => new RuleError('types mismatch')
const zero = () => new RuleError('division by zero')

function added(a: Operand, b: Operand, sign: 1 | -1): ContextValue {
  if (a.type === 'number' && b.type === 'number') return a.number + sign * b.number
  if (a.type === 'duration' && b.type === 'duration') return durationText(a.nanos + BigInt(sign) * b.nanos)
  if (a.type !== 'quantity' || b.type !== 'quantity') throw mismatch()
  return quantityText(a.nanos + BigInt(sign) * b.nanos, a.nanos === 0n ? b.format : a.format)
}

function multiplied(a: Operand, b: Operand): ContextValue {
  if (b.type !== 'number') throw mismatch()
  if (a.type === 'number') return a.number * b.number
  if (a.type === 'duration') return durationText(BigInt(Math.trunc((Number(a.nanos) / 1e9) * b.number * 1e9)))
  return quantityText(wholeNanos(a.nanos * quantityOf(String(b.number)), NANO), a.format)
}

function wholeNanos(product: bigint, divisor: bigint): bigint {
  if (product % divisor !== 0n) throw new RuleError('a quantity below one nano')
  return product / divisor
}

function divided(a: Operand, b: Operand): ContextValue {
  if ((b.type === 'number' ? b.number : Number(b.nanos)) === 0) throw zero()
  if (a.type === 'number') {
    if (b.type !== 'number') throw mismatch()
    return a.number / b.number
  }
  if (a.type === b.type) return Number(a.nanos) / Number(b.nanos)
  if (b.type !== 'number') throw mismatch()
  if (a.type === 'duration') return durationText(BigInt(Math.trunc((Number(a.nanos) / 1e9 / b.number) * 1e9)))
  const text = String(b.number)
  const quotient = (a.nanos * NANO) / quantityOf(text)
  // as many decimal places as the operands have; further places are truncated
  const digits = Math.max(scaleOf(a.text), scaleOf(text))
  const unit = digits >= 9 ? 1n : 10n ** BigInt(9 - digits)
  return quantityText((quotient / unit) * unit, a.format)
}

function remainder(a: Operand, b: Operand): ContextValue {
  if (a.type === 'number' && b.type === 'number') {
    if (!Number.isInteger(a.number) || !Number.isInteger(b.number)) throw new RuleError('modulo: not an integer')
    if (b.number === 0) throw zero()
    return a.number % b.number
  }
  if (a.type === 'number' || b.type === 'number' || a.type !== b.type) throw mismatch()
  if (b.nanos === 0n) throw zero()
  if (a.type === 'duration') return durationText(a.nanos % b.nanos)
  if (a.nanos % NANO !== 0n || b.nanos % NANO !== 0n) throw new RuleError('modulo: not an integer')
  return quantityText(a.nanos % b.nanos, a.format)
}
