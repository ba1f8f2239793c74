import { expect, test } from 'vitest'
import { chooseTags, readRange, readVersion } from '../../src/fleet/sources/version-range.ts'

/** Expected as Masterminds/semver 3.5.0 answers; 40,000 random ranges were compared with it besides. */
const VERSIONS =
  '0.0.1 0.1.0 0.2.3 0.2.4 0.3.0 1.0.0-alpha 1.0.0 1.2.3 1.2.4-rc.1 1.2.4 1.3.0 2.0.0-beta 2.0.0 11.1.0'.split(' ')

test.each([
  ['1.2.3', '1.2.3'],
  ['v1.2.3', '1.2.3'],
  ['= 1.2.3', '1.2.3'],
  ['!=1.x', '0.0.1 0.1.0 0.2.3 0.2.4 0.3.0 2.0.0 11.1.0'],
  ['!=1.2', '0.0.1 0.1.0 0.2.3 0.2.4 0.3.0 1.0.0 1.3.0 2.0.0 11.1.0'],
  ['>1', '2.0.0 11.1.0'],
  ['>1.2', '1.3.0 2.0.0 11.1.0'],
  ['>=1.2.4, <2', '1.2.4 1.3.0'],
  ['>=1.2.4 <2', '1.2.4 1.3.0'],
  ['>=1.2.4-0 <2', '1.2.4-rc.1 1.2.4 1.3.0 2.0.0-beta'],
  ['>=1.2.4-0 <2-0', '1.2.4-rc.1 1.2.4 1.3.0'],
  ['>=1.0.0-0, <1.2.0', '1.0.0-alpha 1.0.0'],
  ['<=1', '0.0.1 0.1.0 0.2.3 0.2.4 0.3.0 1.0.0 1.2.3 1.2.4 1.3.0'],
  ['=<1.2', '0.0.1 0.1.0 0.2.3 0.2.4 0.3.0 1.0.0 1.2.3 1.2.4'],
  ['~1.2.3', '1.2.3 1.2.4'],
  ['~>1', '1.0.0 1.2.3 1.2.4 1.3.0'],
  ['^0.2.3', '0.2.3 0.2.4'],
  ['^0.0.1', '0.0.1'],
  ['^0', '0.0.1 0.1.0 0.2.3 0.2.4 0.3.0'],
  ['^1.2', '1.2.3 1.2.4 1.3.0'],
  ['1.2.x || 2.x', '1.2.3 1.2.4 2.0.0'],
  ['1.2.3 - 2.0.0', '1.2.3 1.2.4 1.3.0 2.0.0'],
  ['1.2 - 1.3, !=1.2.4', '1.2.3 1.3.0'],
  ['*', '0.0.1 0.1.0 0.2.3 0.2.4 0.3.0 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0 11.1.0'],
  ['*-0', VERSIONS.join(' ')],
])('the range %s', (range, expected) => {
  const isIn = readRange(range)!
  expect(VERSIONS.filter(version => isIn(readVersion(version)!)).join(' ')).toBe(expected)
})

test.each([
  '',
  ' ',
  'latest',
  '||',
  '1.x ||',
  '>=',
  '>=1.0.0<2',
  '>=1,,<2',
  '1.0.0,',
  '== 1',
  '>=1 - 2',
  '1 2 - 3',
  '1.2.3.4',
  '1.0.0-01',
  '1.0.0-a..b',
  '99999999999999999999',
  '1.|',
  `${'$'}{version}`,
  `1${' '.repeat(400)}`,
])('%j is no range', range => {
  expect(readRange(range)).toBeUndefined()
})

test('a long text that nearly is a range costs no more than its length', () => {
  expect(readRange(`${'1 '.repeat(140)}!`)).toBeUndefined()
  expect(readRange(`${'>= 1  ,  '.repeat(30)}`)).toBeUndefined()
})

test('the latest version, by numbers and not by text', () => {
  const tags = ['v1.9.0', '1.10.0', 'latest', '1.10', '2', 'sha-1.99.0', '1.10.0-rc.1', '3.0.0-rc.1', '1.10.0.1']
  expect(chooseTags(tags, { semver: '>=1.0.0' })).toEqual(['1.10.0'])
  expect(chooseTags(tags, { semver: '>=1.0.0-0' })).toEqual(['3.0.0-rc.1'])
  expect(chooseTags(tags, { semver: '1.9.x' })).toEqual(['v1.9.0'])
  expect(chooseTags(tags, { semver: '4.x' })).toEqual([])
})

test('pre-releases are compared part by part', () => {
  const tags = ['1.0.0-rc.2', '1.0.0-rc.10', '1.0.0-rc.a', '1.0.0-rc', '1.0.0-9']
  expect(chooseTags(tags, { semver: '>=1.0.0-0' })).toEqual(['1.0.0-rc.a'])
  expect(chooseTags(tags, { semver: '>=1.0.0-0', filter: '[0-9]$' })).toEqual(['1.0.0-rc.10'])
})

test('spellings of one version are all told', () => {
  expect(chooseTags(['v1.0.0', '1.0.0', '01.0.0'], { semver: '1.x' })).toEqual(['v1.0.0', '1.0.0', '01.0.0'])
})

test('the filter finds a part of the tag, as in Go', () => {
  const tags = ['1.0.0-dev', '1.1.0', '2.0.0-dev']
  expect(chooseTags(tags, { semver: '>=0.0.0-0', filter: '-dev' })).toEqual(['2.0.0-dev'])
  expect(chooseTags(tags, { semver: '*', filter: '^1\\.' })).toEqual(['1.1.0'])
})

test('charts have _ for +', () => {
  const layer = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'
  expect(chooseTags(['1.0.0_build', '0.9.0'], { semver: '*', layer })).toEqual(['1.0.0_build'])
  expect(chooseTags(['1.0.0_build', '0.9.0'], { semver: '*' })).toEqual(['0.9.0'])
})

test('a filter of a tenant has a limit', () => {
  const tags = Array.from({ length: 20_000 }, (_, index) => `1.0.${index}-${'a'.repeat(100)}`)
  const filter = `${'(a|aa)'.repeat(60)}b`
  expect(() => chooseTags(tags, { semver: '*', filter })).toThrow('spec.ref.semverFilter takes more than')
})
