import { CelError, refuseLong } from '../expression.ts'
import { type CelValue, type FunctionTable, LibraryValue } from '../values.ts'

const NUMBER = '(0|[1-9]\\d{0,19})'
const SEMVER = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?$`)
const MAX_TEXT = 1_000

/** A semantic version (github.com/blang/semver). */
class Semver extends LibraryValue {
  readonly typeName = 'kubernetes.Semver'
  readonly numbers: readonly bigint[]
  readonly prerelease: readonly string[]
  constructor(numbers: readonly bigint[], prerelease: readonly string[]) {
    super()
    this.numbers = numbers
    this.prerelease = prerelease
  }
  equals(other: LibraryValue): boolean {
    return other instanceof Semver && orderOfVersions(this, other) === 0n
  }
}

/** Semantic versions (k8s.io/apiserver pkg/cel/library/semverlib.go). */
export const SEMVER_FUNCTIONS: FunctionTable = {
  functions: {
    semver: args =>
      withText(args, version => {
        if (!version) throw new CelError('not a semantic version')
        return version
      }),
    isSemver: args => withText(args, version => version !== undefined),
  },
  methods: {
    major: ([one]) => (one instanceof Semver ? BigInt.asIntN(64, one.numbers[0]!) : undefined),
    minor: ([one]) => (one instanceof Semver ? BigInt.asIntN(64, one.numbers[1]!) : undefined),
    patch: ([one]) => (one instanceof Semver ? BigInt.asIntN(64, one.numbers[2]!) : undefined),
    isGreaterThan: ([one, other]) => compared(one, other, sign => sign > 0n),
    isLessThan: ([one, other]) => compared(one, other, sign => sign < 0n),
    compareTo: ([one, other]) => compared(one, other, sign => sign),
  },
}

function withText(
  [text, normalize = false]: readonly CelValue[],
  answer: (version: Semver | undefined) => CelValue,
): CelValue | undefined {
  if (typeof text !== 'string' || typeof normalize !== 'boolean') return undefined
  return answer(readVersion(normalize ? normalized(text) : text))
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
  return numbers.some(one => one >= 2n ** 64n) ? undefined : new Semver(numbers, parts)
}

/** Without `v` and leading zeros, with three numbers. */
function normalized(text: string): string {
  const bare = text.startsWith('v') ? text.slice(1) : text
  const [, core = bare, rest = ''] = /^([^-+]*)(.*)$/s.exec(bare) ?? []
  const parts = core.split('.', 4).map(part => part.replace(/^0+(?=.)/, ''))
  // a version with fewer than three numbers may not have a pre-release or build part
  if (parts.length < 3 && rest !== '') return ''
  while (parts.length < 3) parts.push('0')
  return parts.join('.') + rest
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

function compared<T>(one: CelValue | undefined, other: CelValue | undefined, answer: (sign: bigint) => T) {
  return one instanceof Semver && other instanceof Semver ? answer(orderOfVersions(one, other)) : undefined
}
