import { CelBudgetError } from '../cel-error.ts'
import { refuseLong } from '../refuse-long.ts'

const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?$/
export const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
export const DECIMAL: ReadonlyMap<string, number> = new Map([
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
  const [, sign, whole = '', fraction, suffix = ''] = text.length > MAX_TEXT ? [] : (QUANTITY.exec(text) ?? [])
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
