import { expect, test } from 'vitest'
import type { Entry } from '../../../src/kustomize/model/entry.ts'
import { comparePatterns } from '../../../src/kustomize/select/compare-patterns.ts'
import { containsPattern } from '../../../src/kustomize/select/pattern.ts'
import { randomOf } from '../../offboard/random-fleet.ts'

const budget = { spend: () => undefined }
const entry = (text: string): Entry => ({ text, origin: { repository: '', file: 'x', line: 1, column: 1 } })
const compare = (inner: string, outer: string) => comparePatterns(entry(inner), entry(outer), budget)

test.each([
  ['^tenants/web/.*\\.yaml$', '.*.yaml', 'within'],
  ['^tenants/web/.*\\.ya?ml$', '.*.yaml', 'overlapping'],
  ['^tenants/web/.*\\.yaml$', '^tenants/', 'within'],
  ['^tenants/web/.*\\.yaml$', '^tenants/shop/', 'apart'],
  ['^tenants/web/.*\\.yaml$', '/auth\\.yaml$', 'overlapping'],
  ['^tenants/web/.*\\.yaml$', 'tenants/(web|shop)/', 'within'],
  ['^tenants/web/.*\\.yaml$', '\\.(yaml|yml|json)$', 'within'],
  ['^tenants/web/.*\\.yaml$', '^[^/]+/[^/]+/', 'within'],
  ['^tenants/web/.*\\.yaml$', '^[^/]+/[^/]+/[^/]+$', 'overlapping'],
  ['^tenants/we.b/.*\\.yaml$', '^tenants/we\\.b/', 'overlapping'],
  ['web', 'web', 'within'],
  ['^$', 'a', 'apart'],
  ['\\bweb\\b', 'web', 'within'],
  ['web', '\\bweb\\b', 'overlapping'],
  // a dot is no line break
  ['^a[^b]*c$', '^a.*c$', 'overlapping'],
  ['(?i)web', 'web', 'unknown'],
  ['\u{e9}', 'e', 'unknown'],
])('%s and %s: %s', (inner, outer, relation) => {
  expect(compare(inner, outer)).toBe(relation)
})

test('agrees with what texts say, for random patterns', () => {
  const random = randomOf(7)
  const of = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  const atom = () => of(['a', 'b', '/', '.', '[ab]', '[^a]', 'a*', 'b?', '(a|b/)', '(ab)+', '.*', '\\b'])
  const pattern = () =>
    `${of(['', '^'])}${Array.from({ length: 1 + Math.floor(random() * 4) }, atom).join('')}${of(['', '$'])}`
  const texts = Array.from({ length: 400 }, () =>
    Array.from({ length: Math.floor(random() * 7) }, () => of(['a', 'b', '/', 'c'])).join(''),
  )
  const counts = new Map<string, number>()
  for (let turn = 0; turn < 300; turn++) {
    const [inner, outer] = [pattern(), pattern()]
    const relation = compare(inner, outer)
    counts.set(relation, (counts.get(relation) ?? 0) + 1)
    const found = texts.filter(text => containsPattern(entry(inner), text, budget))
    const both = found.filter(text => containsPattern(entry(outer), text, budget))
    if (relation === 'within') expect([inner, outer, both.length]).toEqual([inner, outer, found.length])
    if (relation === 'apart') expect([inner, outer, both]).toEqual([inner, outer, []])
  }
  for (const relation of ['within', 'overlapping', 'apart']) expect(counts.get(relation)).toBeGreaterThan(5)
  expect(counts.get('unknown')).toBeUndefined()
})
