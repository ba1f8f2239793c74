import { expect, test } from 'vitest'
import type { ApplyResults } from '../../src/cluster/channel/apply-results.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'
import { attributeResults } from '../../workers/apply/offer-work.ts'

const node = (key: string, user = 'system:serviceaccount:apps:team') => ({ key, user })
const approved = {
  nodes: [node('a/apps/team'), node('a/ops/team'), node('a/web/held')],
  apply: [node('a/apps/team'), node('a/ops/team')],
  held: [{ node: 'a/web/held', reason: 'it violates a rule' }],
} as unknown as Approved
const said = (key: string, more: object = {}) => ({
  key,
  user: 'system:admin',
  outcome: 'applied',
  objects: [],
  ...more,
})
const attribute = (applied: object[], isRunning = false) =>
  attributeResults('a', approved, { isRunning, applied } as Pick<ApplyResults, 'isRunning' | 'applied'>)
const outcomes = (applied: object[]) => attribute(applied).map(({ key, outcome }) => `${key} ${outcome}`)

test('a node that the worker leaves out has failed', () => {
  expect(outcomes([said('a/apps/team')])).toEqual(['a/apps/team applied', 'a/ops/team failed', 'a/web/held held'])
})

test('what is held was not applied, whatever the worker says, and its reason is ours', () => {
  const held = attribute([said('a/web/held', { reason: 'all is well' })]).find(({ key }) => key === 'a/web/held')
  expect(held).toMatchObject({ outcome: 'held', reason: 'it violates a rule' })
})

test('of nodes of other clusters it can say nothing', () => {
  expect(outcomes([said('b/apps/team'), said('ab/apps/team'), said('a')])).toEqual([
    'a/apps/team failed',
    'a/ops/team failed',
    'a/web/held held',
  ])
})

test('as whom a node was applied is what was evaluated', () => {
  expect(attribute([said('a/apps/team')])[0]).toMatchObject({ user: 'system:serviceaccount:apps:team' })
})

test('of a node that is gone it says what it deleted', () => {
  expect(outcomes([said('a/old/team')])).toContain('a/old/team applied')
})

test('what waits for values of the cluster is opened by its worker', () => {
  const waits = { ...approved, held: [{ node: 'a/web/held', reason: 'it waits for values', by: 'values' as const }] }
  const of = (applied: object[]) =>
    attributeResults('a', waits, { isRunning: false, applied } as Pick<ApplyResults, 'isRunning' | 'applied'>).find(
      ({ key }) => key === 'a/web/held',
    )
  expect(of([said('a/web/held')])).toMatchObject({ outcome: 'applied' })
  expect(of([])).toMatchObject({ outcome: 'held', reason: 'it waits for values' })
})

test('while a run goes on, nodes that it has not come to are left out, and held ones stay held', () => {
  const running = attribute([said('a/apps/team')], true).map(({ key, outcome }) => `${key} ${outcome}`)
  expect(running).toEqual(['a/apps/team applied', 'a/web/held held'])
})

test('it names a thousand Kustomizations that git no longer has, and says how many more there are', () => {
  const gone = (count: number) => Array.from({ length: count }, (_, at) => said(`a/old/n${at}`))
  const named = (count: number) => attribute(gone(count)).filter(({ key }) => key.startsWith('a/old/'))
  expect(named(1_000).at(-1)).toEqual(said('a/old/n999'))
  expect(named(1_001)).toHaveLength(1_000)
  expect(named(1_001).at(-1)).toMatchObject({ note: '1 more Kustomizations that git no longer has are not listed' })
})
