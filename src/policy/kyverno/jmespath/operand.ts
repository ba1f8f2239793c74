import { parseQuantity } from '../../../cel/kubernetes/parse-quantity.ts'
import { readGoDuration } from '../../../cel/times.ts'
import { type ContextValue, known, NotEvaluatedError, RuleError } from './values.ts'

type QuantityFormat = 'binary' | 'decimal' | 'exponent'

/** An operand of arithmetic; quantities and durations count in 10^-9 of their unit. */
export type Operand =
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'duration'; readonly nanos: bigint }
  | { readonly type: 'quantity'; readonly nanos: bigint; readonly format: QuantityFormat; readonly text: string }

export function operandOf(value: ContextValue): Operand {
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
export function quantityOf(text: string): bigint {
  const nanos = parseQuantity(text)
  if (nanos === undefined) throw new RuleError(`${text} is not a quantity`)
  return nanos
}

const formatOf = (text: string): QuantityFormat =>
  text.endsWith('i') ? 'binary' : /[eE]\d|[eE][+-]/.test(text) ? 'exponent' : 'decimal'

const SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** A quantity in its canonical form (CanonicalizeBytes of k8s.io/apimachinery). */
export function quantityText(nanos: bigint, format: QuantityFormat): string {
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
export function scaleOf(text: string): number {
  const [, fraction = '', suffix = ''] = /^[+-]?\d*(?:\.(\d*))?(\D*)$/.exec(text) ?? []
  const index = SUFFIXES.indexOf(suffix)
  return fraction.length - (index < 0 ? 0 : (index - 3) * 3)
}

const UNITS: readonly (readonly [string, bigint])[] = [
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
]

/** A duration in Go's notation. */
export function durationText(nanos: bigint): string {
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
