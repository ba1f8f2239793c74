import { BailiwickError } from '../../errors.ts'
import type { Origin } from '../../origin.ts'

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E']
const MAX = 2n ** 63n - 1n
/** Beyond this Go's own answer is an accident. */
const MAX_EXPONENT = 18
const MAX_LENGTH = 64

interface Parsed {
  readonly negative: boolean
  /** Digits without leading zeros, and those after the point. */
  readonly whole: string
  readonly fraction: string
  readonly format: 'decimal' | 'exponent' | 'binary'
  /** Of ten, or of two. */
  readonly exponent: number
}

/**
 * A quantity as Kubernetes writes it (apimachinery pkg/api/resource): one that it takes for canonical stays as it was
 * written, others get no fraction and the largest suffix that needs none (`1000m` is `1`, `0.5` is `500m`, `1024Mi` is
 * `1Gi`). Undefined for what is none. Throws `flux-unsupported` for numbers beyond what suffixes can say.
 */
export function canonicalQuantity(text: string, origin: Origin): string | undefined {
  const trimmed = text.replace(/^[\p{Zs}\u0085]+|[\p{Zs}\u0085]+$/gu, '')
  if (trimmed === '') return undefined
  if (trimmed.length > MAX_LENGTH) throw tooLarge(origin)
  const parsed = parse(trimmed)
  if (parsed === 'zero') return '0'
  if (parsed === undefined) return undefined
  if (Math.abs(parsed.exponent) > (parsed.format === 'binary' ? 60 : MAX_EXPONENT)) throw tooLarge(origin)
  return isKept(parsed) ? trimmed : written(parsed, origin)
}

function parse(text: string): Parsed | 'zero' | undefined {
  const match = /^([-+]?)(0*)(\d*)(?:(\.)(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/.exec(text)
  if (!match) return undefined
  const [, sign, , whole = '', point, fraction = '', suffix = ''] = match
  if (whole === '' && point === undefined && suffix === '') return 'zero'
  const meaning = suffixMeaning(suffix)
  return meaning && { negative: sign === '-', whole: whole || '0', fraction, ...meaning }
}

function suffixMeaning(suffix: string): Pick<Parsed, 'format' | 'exponent'> | undefined {
  const binary = BINARY.indexOf(suffix)
  if (binary > 0) return { format: 'binary', exponent: 10 * binary }
  const decimal = DECIMAL.indexOf(suffix)
  if (decimal >= 0) return { format: 'decimal', exponent: 3 * decimal - 9 }
  const digits = /^[eE]([-+]?\d+)$/.exec(suffix)?.[1]
  return digits === undefined ? undefined : { format: 'exponent', exponent: Number(digits) }
}

/** Whether Go keeps the text that it read. */
function isKept({ whole, fraction, format, exponent }: Parsed): boolean {
  const digits = whole + fraction
  if (format === 'binary') {
    if (fraction !== '' || 14 - whole.length - Math.floor((exponent * 3) / 10) < 0) return false
    return BigInt(whole) << BigInt(exponent) <= MAX && (BigInt(whole) & 7n) !== 0n
  }
  const scale = exponent - fraction.length
  return digits.length <= 18 && scale >= -9 && scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0')
}

function written(parsed: Parsed, origin: Origin): string {
  const { whole, fraction, format, exponent } = parsed
  // in units of one n, rounded up
  const shift = 9 - fraction.length + (format === 'binary' ? 0 : exponent)
  let nano = BigInt(whole + fraction) * (format === 'binary' ? 2n ** BigInt(exponent) : 1n)
  if (shift >= 0) nano *= 10n ** BigInt(shift)
  else nano = (nano + 10n ** BigInt(-shift) - 1n) / 10n ** BigInt(-shift)
  if (format === 'binary' && nano > MAX * 10n ** 9n) nano = MAX * 10n ** 9n
  if (nano === 0n) return '0'
  const minus = parsed.negative ? '-' : ''
  const one = 10n ** 9n
  if (format === 'binary' && nano >= 1024n * one && nano % one === 0n) {
    const [amount, index] = withoutFactors(nano / one, 1024n)
    if (index >= BINARY.length) throw tooLarge(origin)
    return `${minus}${amount}${BINARY[index]}`
  }
  const [amount, index] = withoutFactors(nano, 1000n)
  if (format !== 'exponent') {
    if (index >= DECIMAL.length) throw tooLarge(origin)
    return `${minus}${amount}${DECIMAL[index]}`
  }
  const power = 3 * index - 9
  return `${minus}${amount}${power === 0 ? '' : `e${power}`}`
}

function withoutFactors(amount: bigint, factor: bigint): [bigint, number] {
  let rest = amount
  let count = 0
  for (; rest % factor === 0n; count++) rest /= factor
  return [rest, count]
}

function tooLarge(origin: Origin): BailiwickError {
  const message = 'the quantity is out of range for a suffix'
  return new BailiwickError('flux-unsupported', message, { origin, fix: 'Write it with a suffix such as M or Gi.' })
}
