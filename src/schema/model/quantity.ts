const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]))?$/
const TENS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const TWOS: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n }

/** The number `digits` * 10^`tens`. */
interface Quantity {
  readonly digits: bigint
  readonly tens: number
}

/** Undefined for a text that is not a quantity. */
function parse(text: string): Quantity | undefined {
  const match = text.length > 100 ? null : QUANTITY.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent, unit = ''] = match
  if (whole === '' && fraction === '') return undefined
  const tens = exponent === undefined ? (TENS[unit] ?? 0) : Number(exponent)
  const digits = BigInt(`${whole}${fraction}`) << (TWOS[unit] ?? 0n)
  return { digits: sign === '-' ? -digits : digits, tens: tens - fraction.length }
}

/** Whether two texts are one quantity: `1Gi` and `1024Mi` (apimachinery, api/resource). */
export function sameQuantity(a: string, b: string): boolean {
  return compareQuantities(a, b) === 0
}

/** Compares two quantities: negative, zero or positive; undefined if one is not a quantity. */
export function compareQuantities(a: string, b: string): number | undefined {
  const [first, second] = [parse(a), parse(b)]
  if (first === undefined || second === undefined) return undefined
  const smallest = Math.min(first.tens, second.tens)
  const [x, y] = [first, second].map(({ digits, tens }) => digits * 10n ** BigInt(tens - smallest)) as [bigint, bigint]
  return x === y ? 0 : x < y ? -1 : 1
}
