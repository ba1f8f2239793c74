import { expect, test } from 'vitest'
import type { ApplyResults } from '../../../src/cluster/channel/apply-results.ts'
import { WebClock } from '../../../src/cluster/channel/web-client.ts'

const NOON = Date.parse('2026-01-01T12:00:00Z')
const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'apps', name: 'settings' }
const drift = { node: 'a/apps/web', object, change: 'changed' as const, fields: [], managers: [], count: 1 }
const at = (first: string, last: string, next: string): ApplyResults => ({
  ...{ revisionSet: 's', isRunning: false, applied: [] },
  drift: [{ ...drift, first, last }],
  retries: [{ key: 'a/apps/web', at: next }],
})

test.each([
  ['ahead', 3_600_000, '2026-01-01T11:00:00.000Z'],
  ['behind', -90_000, '2026-01-01T12:01:30.000Z'],
])('a clock that is %s: times are those of the web process, and its times are ours', (_what, aheadMs, there) => {
  let now = NOON
  const clock = new WebClock(() => now)
  const date = () => new Date(now - aheadMs).toUTCString()
  clock.heard(date())
  const sent = clock.toWeb(at('2026-01-01T12:00:00Z', '2026-01-01T12:00:00Z', '2026-01-01T12:00:00Z'))
  expect(sent).toEqual(at(there, there, there))
  expect(clock.here(there)).toBe('2026-01-01T12:00:00.000Z')
  // an answer that takes a second or two does not move what was told
  now += 100_000
  clock.heard(new Date(now - aheadMs - 2_000).toUTCString())
  expect(clock.toWeb(at('2026-01-01T12:00:00Z', '2026-01-01T12:00:00Z', '2026-01-01T12:00:00Z'))).toEqual(sent)
  // the clock is set right
  clock.heard(new Date(now).toUTCString())
  expect(clock.here(there)).toBe(there)
})

test('an answer without a date, or with another text there, changes nothing', () => {
  const clock = new WebClock(() => NOON)
  for (const date of [null, '', 'soon']) clock.heard(date)
  expect(clock.here('2026-01-01T12:00:00Z')).toBe('2026-01-01T12:00:00Z')
})
