const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]))?$/
const TENS: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const TWOS: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n }
/** Digits behind the point that are kept: more than the smallest unit and the largest exponent need. */
const SCALE = 1_100

/** A quantity as a whole number of its smallest part; undefined for another text. */
function parts(text: string): bigint | undefined {
  const match = text.length > 100 ? null : QUANTITY.exec(text)
  if (match === null) return undefined
  const [, sign, whole = '', fraction = '', exponent, unit = ''] = match
  if (whole === '' && fraction === '') return undefined
  const tens = exponent === undefined ? (TENS[unit] ?? 0) : Number(exponent)
  const number = BigInt(`${whole}${fraction}`) * 10n ** BigInt(SCALE - fraction.length + tens)
  const value = number << (TWOS[unit] ?? 0n)
  return sign === '-' ? -value : value
}

/** Whether two texts are one quantity: `1Gi` and `1024Mi` (apimachinery, api/resource). */
export function sameQuantity(a: string, b: string): boolean {
  const [first, second] = [parts(a), parts(b)]
  return first !== undefined && first === second
}

/** Which of two quantities is larger: below 0 the second, above 0 the first; undefined where one is none. */
export function compareQuantities(a: string, b: string): number | undefined {
  if (a === b && QUANTITY.test(a)) return 0
  const [first, second] = [parts(a), parts(b)]
  if (first === undefined || second === undefined) return undefined
  return first === second ? 0 : first < second ? -1 : 1
}
