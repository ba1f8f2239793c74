import { expect, test } from 'vitest'
import type { DeliveryAttempt } from '../../src/github/client/open-app-key.ts'
import { missedDeliveries } from '../../workers/jobs/redeliver.ts'

const MINUTE = 60_000
const NOW = Date.parse('2026-01-05T12:00:00Z')
let id = 0
const attempt = (guid: string, minutesAgo: number, taken: boolean, redelivery = false): DeliveryAttempt => ({
  ...{ id: ++id, guid, at: NOW - minutesAgo * MINUTE, redelivery, taken, status: taken ? 200 : 502 },
})

test('what was taken once, at whatever attempt, is not missed', () => {
  const attempts = [attempt('a', 90, true), attempt('b', 90, false), attempt('b', 60, true, true)]
  expect(missedDeliveries(attempts, NOW)).toEqual({ due: [], oldest: undefined })
})

test('a first failure is sent again once it is over for sure, the oldest first', () => {
  const late = attempt('late', 2, false)
  const attempts = [attempt('under way', 0.5, false), late, attempt('taken', 5, true), attempt('old', 60, false)]
  expect(missedDeliveries(attempts, NOW)).toEqual({
    due: [id, late.id].map(one => ({ id: one, status: 502 })),
    oldest: NOW - 60 * MINUTE,
  })
})

test('an event is sent again once in ten minutes, then in twenty, forty ... six hours', () => {
  const first = attempt('a', 3_000, false)
  const again = (...ago: number[]) => [first, ...ago.map(minutes => attempt('a', minutes, false, true))]
  const dueAfter = (...ago: number[]) => missedDeliveries(again(...ago), NOW).due.length
  expect([dueAfter(9), dueAfter(10)]).toEqual([0, 1])
  expect([dueAfter(40, 19), dueAfter(40, 20)]).toEqual([0, 1])
  expect([dueAfter(90, 60, 39), dueAfter(90, 60, 40)]).toEqual([0, 1])
  const many = Array.from({ length: 12 }, (_, index) => 2_900 - index)
  expect([dueAfter(...many, 359), dueAfter(...many, 360)]).toEqual([0, 1])
  expect(missedDeliveries(again(10), NOW).due, 'an attempt that GitHub knows').toEqual([{ id: first.id, status: 502 }])
})
