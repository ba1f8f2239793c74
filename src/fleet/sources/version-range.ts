import { comparePre, compareVersions, readVersion, type Version } from './version.ts'

/** Whether a version is in the range. */
type VersionRange = (version: Version) => boolean

const MAX_LENGTH = 300
const OPERATORS = ['!=', '>=', '=>', '<=', '=<', '~>', '>', '<', '=', '~', '^'] as const
const WORD = /v?([0-9]+|[xX*])(?:\.([0-9]+|[xX*]))?(?:\.([0-9]+|[xX*]))?(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?/y
const SPACES = /[\t\n\f\r ]*/y

/** One comparison: an operator, and a version whose last numbers may be open (`1.x`, `1`). */
interface Comparison {
  readonly operator: string
  readonly version: Version
  /** How many numbers are written: 3 for all, 0 for `*`. */
  readonly written: number
}

/**
 * A range of versions as Masterminds/semver v3 reads it (NewConstraint): comparisons that all hold, separated by spaces or
 * commas, in alternatives separated by `||`; pre-releases only where a comparison of the alternative names one. Undefined for
 * what is no range, or so strange that readers may disagree.
 */
export function readRange(text: string): VersionRange | undefined {
  if (text.length > MAX_LENGTH) return undefined
  const alternatives = text.split('||').map(readAlternative)
  if (alternatives.some(one => one === undefined)) return undefined
  return version =>
    alternatives.some(comparisons => {
      if (version.pre !== '' && !comparisons!.some(one => one.version.pre !== '')) return false
      return comparisons!.every(one => holds(version, one))
    })
}

/** Reads from left to right, each character once. */
function readAlternative(text: string): Comparison[] | undefined {
  const found: Comparison[] = []
  let at = skip(text, 0)
  let isFirst = true
  while (at < text.length) {
    const operator = OPERATORS.find(one => text.startsWith(one, at)) ?? ''
    const word = wordAt(text, skip(text, at + operator.length))
    if (!word) return undefined
    let next = skip(text, word.end)
    // a hyphen between spaces joins two versions; it stands at the start, or after a comma
    if (text[next] === '-' && next > word.end && skip(text, next + 1) > next + 1) {
      const upper = wordAt(text, skip(text, next + 1))
      if (operator !== '' || !isFirst || !upper) return undefined
      found.push({ operator: '>=', ...word.comparison }, { operator: '<=', ...upper.comparison })
      next = skip(text, upper.end)
      if (next === upper.end && next < text.length && text[next] !== ',') return undefined
    } else {
      found.push({ operator, ...word.comparison })
      if (next === word.end && next < text.length && text[next] !== ',') return undefined
    }
    isFirst = text[next] === ','
    at = isFirst ? skip(text, next + 1) : next
    if (isFirst && at === text.length) return undefined
  }
  return found.length === 0 ? undefined : found
}

function skip(text: string, at: number): number {
  SPACES.lastIndex = at
  SPACES.exec(text)
  return SPACES.lastIndex
}

function wordAt(text: string, at: number) {
  WORD.lastIndex = at
  const [whole, major, minor, patch, pre = ''] = WORD.exec(text) ?? []
  if (whole === undefined) return undefined
  const open = [major, minor, patch].findIndex(part => part === undefined || !/^[0-9]+$/.test(part))
  const written = open === -1 ? 3 : open
  const numbers = [major, minor, patch].map((part, index) => (index < written ? part : '0'))
  const version = readVersion(`${numbers.join('.')}${pre}`)
  return version && { end: at + whole.length, comparison: { version, written } }
}

function holds(version: Version, { operator, version: wanted, written }: Comparison): boolean {
  const order = compareVersions(version, wanted)
  const [major, minor] = [0, 1].map(index => version.numbers[index] === wanted.numbers[index])
  switch (operator) {
    case '!=':
      if (written === 3 || written === 0) return order !== 0
      if (!major || written === 1) return !major
      return !minor || isOtherPre(version, wanted)
    case '>':
      if (written === 3 || written === 0) return order > 0
      if (!major) return version.numbers[0] > wanted.numbers[0]
      return written === 2 && version.numbers[1] > wanted.numbers[1]
    case '<':
      return order < 0
    case '>=':
    case '=>':
      return order >= 0
    case '<=':
    case '=<':
      if (written === 3) return order <= 0
      if (!major) return version.numbers[0] < wanted.numbers[0]
      return written === 1 || version.numbers[1] <= wanted.numbers[1]
    case '^':
      return order >= 0 && isCompatible(version, wanted, written)
    case '~':
    case '~>':
      return isAbout(version, wanted, written)
    default:
      return written === 3 ? order === 0 : isAbout(version, wanted, written)
  }
}

const isOtherPre = (version: Version, wanted: Version): boolean =>
  (version.pre !== '' || wanted.pre !== '') && comparePre(version.pre, wanted.pre) !== 0

function isAbout(version: Version, wanted: Version, written: number): boolean {
  if (compareVersions(version, wanted) < 0) return false
  if (wanted.numbers.every(number => number === 0n) && written !== 1 && written !== 2) return true
  return version.numbers[0] === wanted.numbers[0] && (written === 1 || version.numbers[1] === wanted.numbers[1])
}

function isCompatible(version: Version, wanted: Version, written: number): boolean {
  const [major, minor, patch] = wanted.numbers
  if (version.numbers[0] !== major) return false
  if (major > 0n || written === 1) return true
  if (version.numbers[1] !== minor) return false
  return minor > 0n || written === 2 || version.numbers[2] === patch
}
