import { readGoDuration, readTimestamp, zoneOf } from '../../expr/arithmetic.ts'
import { parseQuantity } from '../../expr/libraries/quantity.ts'
import { timestampText } from '../../expr/libraries/times.ts'
import { Time } from '../../expr/values.ts'
import {
  argument,
  type ContextValue,
  type KyvernoFunctions,
  known,
  listOf,
  NotEvaluatedError,
  numberOf,
  ofTexts,
  RuleError,
} from './values.ts'

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

type QuantityFormat = 'binary' | 'decimal' | 'exponent'

/** An operand of arithmetic; quantities and durations count in 10^-9 of their unit. */
type Operand =
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'duration'; readonly nanos: bigint }
  | { readonly type: 'quantity'; readonly nanos: bigint; readonly format: QuantityFormat; readonly text: string }

function operandOf(value: ContextValue): Operand {
  const plain = known(value)
  if (typeof plain === 'number') return { type: 'number', number: plain }
  if (typeof plain !== 'string') throw new RuleError('invalid operand')
  const quantity = parseQuantity(plain)
  if (quantity !== undefined) return { type: 'quantity', nanos: quantity, format: formatOf(plain), text: plain }
  const nanos = readGoDuration(plain)
  if (nanos === undefined) throw new RuleError('invalid operand')
  return { type: 'duration', nanos }
}

/** A quantity times 10^9. */
function quantityOf(text: string): bigint {
  const nanos = parseQuantity(text)
  if (nanos === undefined) throw new RuleError(`${text} is not a quantity`)
  return nanos
}

const formatOf = (text: string): QuantityFormat =>
  text.endsWith('i') ? 'binary' : /[eE]\d|[eE][+-]/.test(text) ? 'exponent' : 'decimal'

const SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** A quantity in its canonical form (CanonicalizeBytes of k8s.io/apimachinery). */
function quantityText(nanos: bigint, format: QuantityFormat): string {
  if (nanos === 0n) return '0'
  const size = nanos < 0n ? -nanos : nanos
  if (format === 'binary' && size >= 1024n * 10n ** 9n && size % 10n ** 9n === 0n) {
    return withSuffix(nanos / 10n ** 9n, 1024n, BINARY)
  }
  if (format === 'exponent') throw new NotEvaluatedError('arithmetic of quantities with exponents')
  return withSuffix(nanos, 1000n, SUFFIXES)
}

function withSuffix(number: bigint, base: bigint, suffixes: readonly string[]): string {
  let [rest, index] = [number, 0]
  while (rest % base === 0n && index < suffixes.length - 1) {
    rest /= base
    index++
  }
  return `${rest}${suffixes[index]}`
}

/** The number of decimal places of a quantity; a suffix such as `k` subtracts three. */
function scaleOf(text: string): number {
  const [, fraction = '', suffix = ''] = /^[+-]?\d*(?:\.(\d*))?(\D*)$/.exec(text) ?? []
  const index = SUFFIXES.indexOf(suffix)
  return fraction.length - (index < 0 ? 0 : (index - 3) * 3)
}

const UNITS: readonly (readonly [string, bigint])[] = [
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
]

/** A duration in Go's notation. */
function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const [sign, size] = nanos < 0n ? ['-', -nanos] : ['', nanos]
  if (size < 1_000n) return `${sign}${size}ns`
  if (size < 1_000_000n) return `${sign}${decimal(size, 3)}µs`
  if (size < 1_000_000_000n) return `${sign}${decimal(size, 6)}ms`
  let [text, rest] = [sign, size]
  for (const [unit, length] of UNITS) {
    if (size >= length) text += `${rest / length}${unit}`
    rest %= length
  }
  return `${text}${decimal(rest, 9)}s`
}

function decimal(number: bigint, digits: number): string {
  const text = String(number).padStart(digits + 1, '0')
  const fraction = text.slice(-digits).replace(/0+$/, '')
  return text.slice(0, -digits) + (fraction === '' ? '' : `.${fraction}`)
}

const RFC3339 = '2006-01-02T15:04:05Z07:00'

/** Time functions (pkg/engine/jmespath/time.go of Kyverno). */
export const TIME_FUNCTIONS: KyvernoFunctions = {
  time_since: ofTexts(3, (layout, from, to) => {
    const start = readTime(layout, from)
    if (to === '') throw new NotEvaluatedError(NOW)
    return durationText(readTime(layout, to).nanos - start.nanos)
  }),
  time_diff: ofTexts(2, (from, to) => durationText(time(to).nanos - time(from).nanos)),
  time_before: ofTexts(2, (a, b) => time(a).nanos < time(b).nanos),
  time_after: ofTexts(2, (a, b) => time(a).nanos > time(b).nanos),
  time_between: ofTexts(3, (text, from, to) => {
    const { nanos } = time(text)
    return nanos > time(from).nanos && nanos < time(to).nanos
  }),
  time_add: ofTexts(2, (text, more) => {
    const { nanos, zone } = time(text)
    return formatTime(nanos + duration(more), zone)
  }),
  time_utc: ofTexts(1, text => formatTime(time(text).nanos, 0)),
  time_parse: ofTexts(2, (layout, text) => {
    if (!/^[+-]?\d{1,18}$/.test(layout)) {
      const { nanos, zone } = readTime(layout, text)
      return formatTime(nanos, zone)
    }
    if (!/^[+-]?\d{1,12}$/.test(text)) throw new RuleError('time_parse: not a number of seconds')
    return formatTime(BigInt(text) * 1_000_000_000n, 0)
  }),
}

/** Why what asks for the present time has no answer. */
export const NOW = 'it depends on the time at which the object is applied'

function duration(text: string): bigint {
  const nanos = readGoDuration(text)
  if (nanos === undefined) throw new RuleError(`${JSON.stringify(text)} is not a duration`)
  return nanos
}

/** Parses a time by a Go layout; an empty one means RFC 3339. No other is supported. */
function readTime(layout: string, text: string): Time {
  if (layout === '' || layout === RFC3339) return time(text)
  throw new NotEvaluatedError(`the layout ${JSON.stringify(layout.slice(0, 100))} is not supported. Allowed: RFC 3339`)
}

function time(text: string): Time {
  const [nanos, zone] = [readTimestamp(text), zoneOf(text)]
  if (nanos === undefined || zone === undefined)
    throw new RuleError(`${JSON.stringify(text.slice(0, 100))} is not a time`)
  return new Time('timestamp', nanos, zone)
}

/** RFC 3339 without fractional seconds. No text that is read leads beyond what a date of JavaScript holds. */
function formatTime(nanos: bigint, zone: number): string {
  return timestampText(new Time('timestamp', nanos, zone)).replace(/\.\d+/, '')
}
