import { expect, test } from 'vitest'
import { namesBranch } from '../../../src/verdict/branch-ruleset.ts'

const names = (include: string[], branch: string, exclude: string[] = [], isDefault = false) =>
  namesBranch({ include, exclude }, branch, isDefault)

test.each<[string, string, boolean]>([
  ['refs/heads/main', 'main', true],
  ['refs/heads/main', 'main2', false],
  ['refs/heads/*', 'main', true],
  ['refs/heads/*', 'release/1', false],
  ['refs/heads/**', 'release/1/x', true],
  ['refs/heads/**/*', 'main', true],
  ['refs/heads/release/*', 'release/1', true],
  ['refs/heads/release/*', 'release', false],
  ['refs/heads/r?lease', 'release', true],
  ['refs/heads/r?lease', 'rlease', false],
  ['refs/heads/*-main', 'dev-main', true],
  ['refs/heads/m*n*x', 'main-x', true],
  ['~ALL', 'anything/at/all', true],
  ['~DEFAULT_BRANCH', 'main', false],
  ['main', 'main', false],
])('%s and %s: %s', (pattern, branch, expected) => {
  expect(names([pattern], branch)).toBe(expected)
})

test('an exclusion wins, and the default branch has a word of its own', () => {
  expect(names(['~ALL'], 'main', ['refs/heads/main'])).toBe(false)
  expect(names(['~DEFAULT_BRANCH'], 'main', [], true)).toBe(true)
  expect(names([], 'main', [], true)).toBe(false)
})

test('a hostile pattern costs nothing', () => {
  const started = performance.now()
  expect(names([`refs/heads/${'*a'.repeat(140)}b`], 'a'.repeat(250))).toBe(false)
  expect(names(['*'.repeat(100_000)], 'main')).toBe(false)
  expect(performance.now() - started).toBeLessThan(500)
})
