import { expect, test } from 'vitest'
import { RequestPace } from '../../../src/surface/web/cluster-door.ts'

test('so many at once, then so many a second, each client by itself', () => {
  let now = 0
  const pace = new RequestPace({ burst: 3, perSecond: 2 }, () => now)
  const taken = (client: string, count: number) => Array.from({ length: count }, () => pace.take(client))
  expect(taken('a', 4)).toEqual([true, true, true, false])
  expect(taken('b', 1)).toEqual([true])
  now = 499
  expect(taken('a', 1)).toEqual([false])
  now = 1_000
  expect(taken('a', 3)).toEqual([true, true, false])
  now = 1_000_000
  expect(taken('a', 4)).toEqual([true, true, true, false])
})
