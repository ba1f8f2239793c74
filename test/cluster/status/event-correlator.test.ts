import { expect, test } from 'vitest'
import { EventCorrelator } from '../../../src/cluster/status/events.ts'

const event = (message: string, type = 'Normal') => ({ object: 'apps/web', type, reason: 'Progressing', message })
const write = (correlator: EventCorrelator<string>, one: ReturnType<typeof event>, now: number) => {
  const correlated = correlator.correlate(one, now)
  if (correlated) correlator.wrote(one, correlated, correlated.earlier ?? `written at ${now}`)
  return correlated
}

test('the same event again is the earlier one with a higher count', () => {
  const correlator = new EventCorrelator<string>()
  expect(write(correlator, event('a'), 1)).toEqual({ message: 'a', count: 1 })
  expect(write(correlator, event('a'), 2)).toEqual({ message: 'a', count: 2, earlier: 'written at 1' })
  expect(write(correlator, event('b'), 3)).toEqual({ message: 'b', count: 1 })
})

test('the tenth that differs only by message is combined, and each one after it counts that one up', () => {
  const correlator = new EventCorrelator<string>()
  for (let index = 0; index < 9; index++)
    expect(write(correlator, event(`m${index}`), index)).toMatchObject({ count: 1 })
  expect(write(correlator, event('m9'), 9)).toEqual({ message: '(combined from similar events): m9', count: 1 })
  expect(write(correlator, event('m10'), 10)).toMatchObject({ count: 2, earlier: 'written at 9' })
  expect(write(correlator, event('m11'), 10 + 600_001)).toEqual({ message: 'm11', count: 1 })
})

test('25 about one object, then one in five minutes; of another type there is room', () => {
  const correlator = new EventCorrelator<string>()
  for (let index = 0; index < 25; index++) expect(write(correlator, event('a'), 0)).toBeDefined()
  expect(write(correlator, event('a'), 0)).toBeUndefined()
  expect(write(correlator, event('a', 'Warning'), 0)).toBeDefined()
  expect(write(correlator, event('a'), 299_999)).toBeUndefined()
  expect(write(correlator, event('a'), 600_000)).toBeDefined()
})
