import { expect, test } from 'vitest'
import { comparePatterns, containsPattern } from '../../../src/expr/regexp/pattern.ts'
import { randomOf } from '../../tenants/offboard/random-fleet.ts'

test.each([
  ['^tenants/web/.*\\.yaml$', '.*.yaml', 'within'],
  ['^tenants/web/.*\\.ya?ml$', '.*.yaml', 'unknown'],
  ['^tenants/web/.*\\.ya?ml$', '\\.(yaml|yml)$', 'within'],
  ['^tenants/web/.*\\.yaml$', '^tenants/', 'within'],
  ['^tenants/web/.*\\.yaml$', 'web', 'within'],
  ['^tenants/web/.*\\.yaml$', '^tenants/.*\\.ya?ml$', 'within'],
  ['^tenants/web/.*\\.yaml$', '^tenants/shop/', 'apart'],
  ['^tenants/we\\.b/.*\\.yaml$', '^tenants/we\\.b/', 'within'],
  ['^tenants/web/.*\\.yaml$', '/auth\\.yaml$', 'unknown'],
  ['^tenants/web/.*\\.yaml$', '^tenants/web$', 'unknown'],
  ['^tenants/web/.*\\.yaml$', 'tenants/(web|shop)/', 'unknown'],
  ['^tenants/we.b/.*\\.yaml$', '^tenants/we\\.b/', 'unknown'],
  ['tenants/web/.*\\.yaml$', '^tenants/shop/', 'unknown'],
  ['^tenants/web/.*', '\\.yaml$', 'unknown'],
  ['^tenants/web/.*\\.yaml', '\\.yaml$', 'unknown'],
  ['^tenants/web/.*\\.yaml$', '^\\.yaml$', 'unknown'],
  // a dot is any character, and no line break
  ['^tenants/web/.*.yaml$', '\\.yaml$', 'unknown'],
  ['^tenants/web/', '^tenants/.*$', 'unknown'],
  ['(?i)web', '(?i)web', 'within'],
  ['(?i)^web', '^shop', 'unknown'],
])('%s and %s: %s', (inner, outer, relation) => {
  expect(comparePatterns(inner, outer)).toBe(relation)
})

test('agrees with what texts say, for random patterns', () => {
  const random = randomOf(7)
  const of = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const endings = ['', '\\.yaml', '.yaml', '\\.ya?ml', '\\.(yml|yaml)']
  const pattern = () =>
    [of(['', '^']), of(['', 'a', 'a/', 'a/b/', 'b', '\\.', 'a.b']), of(['', '.*']), of(endings), of(['', '$'])].join('')
  const texts = Array.from({ length: 400 }, () =>
    Array.from({ length: Math.floor(random() * 6) }, () =>
      of(['a', 'b', '/', '.', '.yaml', '.yml', 'yaml', '\n']),
    ).join(''),
  )
  const entry = (text: string) => ({ text, origin: { repository: '', file: 'x', line: 1, column: 1 } })
  const isIn = (pattern: string, text: string) => containsPattern(entry(pattern), text, { spend: () => undefined })
  const counts = new Map<string, number>()
  for (let turn = 0; turn < 2_000; turn++) {
    const [inner, outer] = [pattern(), pattern()]
    const relation = comparePatterns(inner, outer)
    counts.set(relation, (counts.get(relation) ?? 0) + 1)
    if (relation === 'unknown') continue
    const found = texts.filter(text => isIn(inner, text))
    const both = found.filter(text => isIn(outer, text))
    expect([inner, outer, both]).toEqual([inner, outer, relation === 'within' ? found : []])
  }
  for (const relation of ['within', 'unknown', 'apart']) expect(counts.get(relation)).toBeGreaterThan(20)
})
