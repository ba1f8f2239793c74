import { expect, test } from 'vitest'
import type { VerdictCluster } from '../../src/rules/model/finding.ts'
import { assertBound } from '../../workers/apply/approved-nodes.ts'

const home = { name: 'home', path: 'kubernetes/home', how: 'sync' } as const
const bind =
  (bound: { name: string; path: string }, ...clusters: VerdictCluster[]) =>
  () =>
    assertBound(bound, { clusters })

test.each(['sync', 'flux-instance', 'declared', 'layout'] as const)('a bound folder of %s is applied', how => {
  expect(bind({ name: 'home', path: 'kubernetes/home' }, { ...home, how })).not.toThrow()
  expect(bind({ name: 'root', path: '' }, home, { name: 'root', path: '', how })).not.toThrow()
})

test.each<[string, { name: string; path: string }, VerdictCluster[], string]>([
  [
    'of the name that starts from another folder',
    { name: 'home', path: 'clusters/home' },
    [home],
    'cluster home starts from kubernetes/home (sync), and clusters.yaml binds clusters/home: nothing is applied',
  ],
  [
    'of the name that starts from the root',
    { name: 'home', path: 'kubernetes/home' },
    [{ ...home, path: '' }],
    'cluster home starts from ./ (sync), and clusters.yaml binds kubernetes/home: nothing is applied',
  ],
  [
    'that is bound at the root and starts below it',
    { name: 'home', path: '' },
    [home],
    'cluster home starts from kubernetes/home (sync), and clusters.yaml binds ./: nothing is applied',
  ],
  [
    'that is only assumed',
    { name: 'home', path: 'kubernetes/home' },
    [{ ...home, how: 'assumed' }],
    'cluster home starts from kubernetes/home (assumed)',
  ],
  [
    'of the folder that has another name',
    { name: 'staging', path: 'kubernetes/home' },
    [home],
    'clusters.yaml binds kubernetes/home as staging, and the cluster that starts there is home: nothing is applied',
  ],
])('nothing is applied to a cluster %s', (_what, bound, clusters, message) => {
  expect(bind(bound, ...clusters)).toThrow(
    expect.objectContaining({ code: 'not-permitted', message: expect.stringContaining(message) }),
  )
})

test('a cluster that the fleet no longer has is no other one', () => {
  expect(bind({ name: 'gone', path: 'clusters/gone' }, home)).not.toThrow()
})
