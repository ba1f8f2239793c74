import { expect, test } from 'vitest'
import { DriftPace } from '../../workers/apply/drift-watch.ts'

test('drift is put back at once, and at growing intervals where somebody changes it again and again', () => {
  const pace = new DriftPace(() => 0)
  const delays = Array.from({ length: 13 }, () => pace.delayMs('a') / 1000)
  expect(delays).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60])
  expect(pace.delayMs('b')).toBe(0)
})

test('who leaves it alone for a while begins anew', () => {
  let now = 0
  const pace = new DriftPace(() => now)
  for (let time = 0; time < 10; time++) pace.delayMs('a')
  now += 121_000
  expect(pace.delayMs('a')).toBe(0)
})
