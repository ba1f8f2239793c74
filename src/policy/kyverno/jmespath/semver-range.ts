import { orderOfVersions, readVersion } from '../../../cel/kubernetes/semver.ts'
import { RuleError } from './values.ts'

type Version = NonNullable<ReturnType<typeof readVersion>>

const ZERO = readVersion('0.0.0')!
const TESTS: Readonly<Record<string, (sign: bigint) => boolean>> = {
  '': sign => sign === 0n,
  '=': sign => sign === 0n,
  '==': sign => sign === 0n,
  '!': sign => sign !== 0n,
  '!=': sign => sign !== 0n,
  '>': sign => sign > 0n,
  '>=': sign => sign >= 0n,
  '<': sign => sign < 0n,
  '<=': sign => sign <= 0n,
}

/** `semver_compare`: whether a version is in a range (github.com/blang/semver ParseRange); an invalid version counts as 0.0.0. */
export function isInRange(text: string, range: string): boolean {
  const version = readVersion(text) ?? ZERO
  const parts = range
    .trim()
    .replaceAll(/\s*\|\|\s*/g, ' || ')
    .replaceAll(/([<>=!])\s+/g, '$1')
    .split(/\s+/)
  const alternatives: string[][] = [[]]
  for (const part of parts) part === '||' ? alternatives.push([]) : alternatives.at(-1)!.push(part)
  if (alternatives.some(one => one.length === 0)) throw new RuleError(`semver_compare: ${range} is not a range`)
  const tests = alternatives.map(one => one.flatMap(testsOf))
  return tests.some(all => all.every(test => test(version)))
}

type Test = (version: Version) => boolean

function testsOf(part: string): Test[] {
  const [, operator = '', version = ''] = /^([<>=!]*)(.*)$/s.exec(part) ?? []
  if (!Object.hasOwn(TESTS, operator)) throw new RuleError(`semver_compare: unknown operator ${operator}`)
  if (!version.includes('x')) return [testOf(operator, version)]
  const numbers = version.split('.')
  const flat = [0, 1, 2].map(index => (numbers[index] === 'x' ? '0' : (numbers[index] ?? '0'))).join('.')
  const next = incremented(flat, numbers.length)
  if (operator === '>') return [testOf('>=', next)]
  if (operator === '<=') return [testOf('<', next)]
  if (operator === '>=' || operator === '<') return [testOf(operator, flat)]
  if (operator.startsWith('!')) return [testOf('<', flat), testOf('>=', next)]
  return [testOf('>=', flat), testOf('<', next)]
}

function testOf(operator: string, text: string): Test {
  const limit = readVersion(text)
  if (!limit) throw new RuleError(`semver_compare: ${JSON.stringify(text)} is not a version`)
  return version => TESTS[operator]!(orderOfVersions(version, limit))
}

/** The first version above `1.2.x` or `1.x`. */
function incremented(flat: string, parts: number): string {
  const [major = 0, minor = 0] = flat.split('.').map(Number)
  return parts > 2 ? `${major}.${minor + 1}.0` : `${major + 1}.0.0`
}
