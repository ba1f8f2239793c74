import { expect, test } from 'vitest'
import { type ProtectionLayer, trailGaps } from '../../../src/verdict/evaluate-protection.ts'

const APP = 7
const OURS = `the App with the ID ${APP}`
const layer = (changes: Partial<ProtectionLayer> = {}): ProtectionLayer => ({
  ...{ kind: 'ruleset', name: 'trail', of: 'Repository', checks: [], strict: false, mergeQueue: false },
  ...{ pullRequest: false, forbidsForcePush: true, forbidsDeletion: true, bypass: [OURS] },
  ...changes,
})
const gaps = (...layers: ProtectionLayer[]) =>
  trailGaps({ layers, hidden: false, foreign: [] }, APP).map(({ level, what }) => `${level}: ${what}`)

test('a branch that nobody but the App can rewrite or delete has no gap', () => {
  expect(gaps(layer())).toEqual([])
  expect(gaps(layer({ bypass: [] }))).toEqual([])
  expect(gaps(layer({ forbidsDeletion: false }), layer({ forbidsForcePush: false }))).toEqual([])
  // whom one layer lets pass, another stops
  expect(gaps(layer({ bypass: ['every owner of the organization'] }), layer())).toEqual([])
})

test('a branch without protection has both gaps', () => {
  const open = ['weak: force pushes can replace its entries', 'weak: it can be deleted']
  expect(gaps()).toEqual(open)
  expect(gaps(layer({ forbidsForcePush: false, forbidsDeletion: false }))).toEqual(open)
})

test('who can bypass it is named, except the App', () => {
  expect(gaps(layer({ bypass: [OURS, 'every owner of the organization'] }))).toEqual([
    'weak: every owner of the organization can bypass its protection',
  ])
  expect(gaps(layer({ bypass: ['the App with the ID 77'] }))).toEqual([
    'weak: the App with the ID 77 can bypass its protection',
  ])
})

test('what GitHub does not show is a note, never a pass', () => {
  expect(gaps(layer({ bypass: undefined }))).toEqual([
    'note: GitHub shows who can bypass its ruleset only to Apps with "Administration: write"',
  ])
  const hidden = trailGaps({ layers: [], hidden: true, foreign: [] }, APP)
  expect(hidden.map(({ level }) => level)).toEqual(['note', 'note'])
})

test('commits that the App did not write are listed first', () => {
  const foreign = Array.from({ length: 7 }, (_, at) => String(at).repeat(40))
  const [first] = trailGaps({ layers: [layer()], hidden: false, foreign }, APP)
  expect(first?.level).toBe('open')
  expect(first?.what).toContain('this App did not write 0000000000, 1111111111')
  expect(first?.what).toContain('and 2 more')
})
