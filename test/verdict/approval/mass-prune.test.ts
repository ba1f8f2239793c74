import { expect, test } from 'vitest'
import { massPrunes } from '../../../src/verdict/mass-prune.ts'

const limits = { share: 30, atLeast: 10 }
const objects = (count: number, kind = 'ConfigMap') =>
  Array.from({ length: count }, (_, index) => ({
    id: { apiVersion: 'v1', kind, namespace: 'apps', name: `o-${index}` },
    uid: `uid-${index}`,
  }))
const prune = (count: number, had: number, more: { node?: string; gone?: boolean } = {}) => ({
  node: 'staging/flux-system/apps',
  objects: objects(count),
  had,
  gone: false,
  ...more,
})
const held = (one: ReturnType<typeof prune>, present = ['staging/flux-system/apps', 'staging/flux-system/infra']) =>
  massPrunes([one], present, limits).has(one.node)

test.each([
  [10, 33, true],
  [10, 34, false],
  [9, 9, false],
  [30, 100, false],
  [31, 100, true],
  [10, 10, true],
  [0, 0, false],
])('a prune of %i of %i objects waits: %s', (count, had, expected) => {
  expect(held(prune(count, had))).toBe(expected)
  expect(held(prune(count, had, { gone: true, node: 'staging/flux-system/gone' }))).toBe(expected)
})

test('all nodes of a namespace that go at once wait, however small; one of several does not', () => {
  const gone = (name: string, count = 1) => prune(count, count, { gone: true, node: `staging/team/${name}` })
  const both = [gone('a'), gone('b', 0)]
  expect([...massPrunes(both, ['staging/flux-system/infra', 'production/team/a'], limits).keys()]).toEqual([
    'staging/team/a',
    'staging/team/b',
  ])
  expect([...massPrunes([gone('a')], ['staging/team/b'], limits).keys()]).toEqual([])
  // a namespace that only begins with the name of another one is another one
  expect([...massPrunes([gone('a')], ['staging/team-2/b'], limits).keys()]).toEqual(['staging/team/a'])
})

test('approved is exactly the set of objects: another object, uid or node is another set', () => {
  const first = prune(12, 12)
  const { digest } = massPrunes([first], [], limits).get(first.node)!
  const waits = (one: typeof first) => massPrunes([one], [], limits, new Set([digest])).size > 0
  expect(digest).toMatch(/^[0-9a-f]{32}$/)
  expect(waits(first)).toBe(false)
  expect(waits({ ...first, objects: [...first.objects].reverse() })).toBe(false)
  expect(waits({ ...first, had: 40 })).toBe(false)
  expect(waits({ ...first, objects: objects(13) })).toBe(true)
  expect(waits({ ...first, objects: objects(11) })).toBe(true)
  expect(waits({ ...first, objects: objects(12, 'Secret') })).toBe(true)
  expect(waits({ ...first, objects: first.objects.map(one => ({ ...one, uid: 'another' })) })).toBe(true)
  expect(waits({ ...first, node: 'staging/flux-system/other' })).toBe(true)
})

test('says how many of which kinds, the first names, and the command', () => {
  const mixed = { ...prune(0, 14), objects: [...objects(10), ...objects(2, 'Deployment')] }
  const { digest, reason } = massPrunes([mixed], [mixed.node], limits).get(mixed.node)!
  expect(reason).toBe(
    'it would delete 12 of 14 objects (10 ConfigMap, 2 Deployment): ConfigMap apps/o-0, ConfigMap apps/o-1, ' +
      'ConfigMap apps/o-2, ConfigMap apps/o-3, ConfigMap apps/o-4 and 7 more. That is more than 30 % of what it has. ' +
      'A fleet admin approves exactly these objects by a comment on an open issue or pull request of the fleet: ' +
      `/bailiwick approve-prune ${digest}`,
  )
})
