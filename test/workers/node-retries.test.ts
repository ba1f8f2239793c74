import { expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import { NodeRetries } from '../../workers/apply/cluster-memory.ts'

const said: AppliedNode = { key: 'a', user: 'u', outcome: 'failed', reason: 'busy', objects: [] }
const node = (revisionSet = 'one', settings = {}) => ({
  key: 'a',
  revisionSet,
  settings: { ...DEFAULT_SETTINGS, ...settings },
})

test('a node rests twice as long after each failure, five minutes at most', () => {
  let now = 0
  const retries = new NodeRetries(() => now)
  const pauses: number[] = []
  for (let attempt = 0; attempt < 9; attempt++) {
    expect(retries.resting(node())).toBeUndefined()
    retries.failed(node(), said)
    expect(retries.resting(node())).toBe(said)
    pauses.push(retries.nextInMs()! / 1000)
    now += retries.nextInMs()!
  }
  expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
})

test('its own retryInterval counts, every time', () => {
  const retries = new NodeRetries(() => 0)
  const own = node('one', { retryIntervalMs: 30_000 })
  for (let attempt = 0; attempt < 3; attempt++) retries.failed(own, said)
  expect(retries.nextInMs()).toBe(30_000)
  retries.failed(node('one', { retryIntervalMs: 1 }), said)
  expect(retries.nextInMs()).toBe(5_000)
})

test('another revisionSet is tried at once, and begins anew', () => {
  const retries = new NodeRetries(() => 0)
  for (let attempt = 0; attempt < 3; attempt++) retries.failed(node(), said)
  expect(retries.resting(node('two'))).toBeUndefined()
  retries.failed(node('two'), said)
  expect(retries.nextInMs()).toBe(5_000)
})

test('who was applied, or is gone, rests no more', () => {
  const retries = new NodeRetries(() => 0)
  retries.failed(node(), said)
  retries.keep(new Set(['a']))
  expect(retries.resting(node())).toBe(said)
  retries.keep(new Set(['b']))
  expect(retries.resting(node())).toBeUndefined()
  retries.failed(node(), said)
  retries.forget('a')
  expect([retries.resting(node()), retries.nextInMs()]).toEqual([undefined, undefined])
})
