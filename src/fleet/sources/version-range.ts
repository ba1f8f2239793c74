import { BailiwickError } from '../../base/errors.ts'
import type { Origin } from '../../base/origin.ts'
import { containsPattern } from '../../expr/regexp/pattern.ts'

/** Which tags of a repository an OCIRepository may follow. */
interface Wanted {
  /** `spec.ref.semver`. */
  readonly semver: string
  /** `spec.ref.semverFilter`: a regular expression of Go. */
  readonly filter?: string | undefined
  /** Media type of the layer: Helm writes the `+` of a version as `_`. */
  readonly layer?: string | undefined
}

const CHART = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'
const NOWHERE: Origin = { repository: '', file: '', line: 0, column: 0 }
const MAX_STEPS = 5_000_000

/**
 * The tags of the latest version in the range: more than one where versions are equal but for their spelling. None where no
 * tag matches (source-controller, getTagBySemver). Throws `render-limits` for a filter that takes too many steps.
 */
export function chooseTags(tags: readonly string[], { semver, filter, layer }: Wanted): string[] {
  const isIn = readRange(semver)
  if (!isIn) return []
  const passes = filter === undefined ? () => true : filterOf(filter)
  let latest: Version | undefined
  let found: string[] = []
  for (const tag of tags) {
    if (!passes(tag)) continue
    const text = layer === CHART ? tag.replaceAll('_', '+') : tag
    // fluxcd/pkg version.ParseVersion: three parts, whatever is in them
    const version = text.split('.').length < 3 ? undefined : readVersion(text)
    if (!version || !isIn(version)) continue
    const order = latest === undefined ? 1 : compareVersions(version, latest)
    if (order > 0) [latest, found] = [version, [tag]]
    else if (order === 0) found.push(tag)
  }
  return found
}

function filterOf(text: string): (tag: string) => boolean {
  let left = MAX_STEPS
  const budget = {
    spend(_what: 'steps', amount: number) {
      left -= amount
      if (left < 0)
        throw new BailiwickError('render-limits', `spec.ref.semverFilter takes more than ${MAX_STEPS} steps`, {
          fix: 'Write a shorter expression.',
        })
    },
  }
  return tag => containsPattern({ text, origin: NOWHERE }, tag, budget)
}

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
 * an invalid range, or one on which readers may disagree.
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

/** A version as Masterminds/semver v3 reads it (NewVersion), which Flux uses. */
interface Version {
  readonly numbers: readonly [bigint, bigint, bigint]
  /** Without its hyphen; '' for a release. */
  readonly pre: string
}

const LOOSE = /^v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/
const MAX_NUMBER = 2n ** 64n - 1n
const NUMBER = /^[0-9]+$/

/** Zeros in front and missing parts are allowed. Undefined for an invalid version. */
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
function compareVersions(one: Version, other: Version): number {
  for (const index of [0, 1, 2] as const) {
    const [a, b] = [one.numbers[index], other.numbers[index]]
    if (a !== b) return a < b ? -1 : 1
  }
  if (one.pre === other.pre) return 0
  if (one.pre === '' || other.pre === '') return one.pre === '' ? 1 : -1
  return comparePre(one.pre, other.pre)
}

/** Of pre-releases alone, part by part. */
function comparePre(one: string, other: string): number {
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
