import { refuseLong } from '../expression.ts'

const NUMBER = '(0|[1-9]\\d{0,19})'
const SEMVER = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?$`)
const MAX_TEXT = 1_000

/** A semantic version (github.com/blang/semver). */
interface Semver {
  readonly numbers: readonly bigint[]
  readonly prerelease: readonly string[]
}

/** A semantic version; undefined if the text is not one. Throws CelBudgetError if it is too long. */
export function readVersion(text: string): Semver | undefined {
  refuseLong(text, MAX_TEXT)
  const [, major, minor, patch, pre, build] = SEMVER.exec(text) ?? []
  if (major === undefined) return undefined
  const parts = pre?.split('.') ?? []
  if (parts.some(part => part === '' || /^0\d+$/.test(part))) return undefined
  if (build?.split('.').some(part => part === '')) return undefined
  const numbers = [major, minor!, patch!].map(BigInt)
  return numbers.some(one => one >= 2n ** 64n) ? undefined : { numbers, prerelease: parts }
}

/** Negative if the first version is lower, positive if it is higher, zero if they are equal. */
export function orderOfVersions(a: Semver, b: Semver): bigint {
  for (const [index, number] of a.numbers.entries()) {
    const other = b.numbers[index]!
    if (number !== other) return number < other ? -1n : 1n
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return BigInt(Number(a.prerelease.length === 0) - Number(b.prerelease.length === 0))
  }
  for (const [index, part] of a.prerelease.entries()) {
    const other = b.prerelease[index]
    if (other === undefined) return 1n
    const sign = orderOfParts(part, other)
    if (sign !== 0n) return sign
  }
  return a.prerelease.length < b.prerelease.length ? -1n : 0n
}

function orderOfParts(a: string, b: string): bigint {
  const [numeric, other] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (numeric && other) return BigInt(a) === BigInt(b) ? 0n : BigInt(a) < BigInt(b) ? -1n : 1n
  if (numeric !== other) return numeric ? -1n : 1n
  return a === b ? 0n : a < b ? -1n : 1n
}
