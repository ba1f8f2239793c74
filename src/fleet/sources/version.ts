/** A version as Masterminds/semver v3 reads it (NewVersion), which Flux uses. */
export interface Version {
  readonly numbers: readonly [bigint, bigint, bigint]
  /** Without its hyphen; '' for a release. */
  readonly pre: string
}

const LOOSE = /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/
const MAX_NUMBER = 2n ** 64n - 1n
const NUMBER = /^[0-9]+$/

/** Zeros in front and missing parts are allowed. Undefined for what is no version. */
export function readVersion(text: string): Version | undefined {
  const [, major, minor = '0', patch = '0', pre = '', metadata] = LOOSE.exec(text) ?? []
  if (major === undefined) return undefined
  const [a, b, c] = [major, minor, patch].map(part => (part.length > 100 ? MAX_NUMBER + 1n : BigInt(part)))
  if ([a!, b!, c!].some(number => number > MAX_NUMBER)) return undefined
  const isWrong = (part: string) => part === '' || (NUMBER.test(part) && part.length > 1 && part.startsWith('0'))
  if (pre !== '' && pre.split('.').some(isWrong)) return undefined
  if (metadata?.split('.').includes('')) return undefined
  return { numbers: [a!, b!, c!], pre }
}

/** Below zero, zero or above: by precedence, metadata apart. */
export function compareVersions(one: Version, other: Version): number {
  for (const index of [0, 1, 2] as const) {
    const [a, b] = [one.numbers[index], other.numbers[index]]
    if (a !== b) return a < b ? -1 : 1
  }
  if (one.pre === other.pre) return 0
  if (one.pre === '' || other.pre === '') return one.pre === '' ? 1 : -1
  return comparePre(one.pre, other.pre)
}

/** Of pre-releases alone, part by part. */
export function comparePre(one: string, other: string): number {
  const [a, b] = [one.split('.'), other.split('.')]
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const [x = '', y = ''] = [a[index], b[index]]
    if (x === y) continue
    if (x === '' || y === '') return x === '' ? -1 : 1
    const [m, n] = [numberOf(x), numberOf(y)]
    if (m !== undefined && n !== undefined) return m < n ? -1 : 1
    if (m !== undefined || n !== undefined) return m !== undefined ? -1 : 1
    return x < y ? -1 : 1
  }
  return 0
}

/** What does not fit into 64 bits is a text. */
function numberOf(part: string): bigint | undefined {
  if (!NUMBER.test(part) || part.length > 20) return undefined
  const number = BigInt(part)
  return number > MAX_NUMBER ? undefined : number
}
