import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GITHUB_PACE, type Write, WriteTurns } from '../../../src/github/client/client-class.ts'

const CHECK: Write = { isCheck: true, notifies: false }
const COMMENT: Write = { isCheck: false, notifies: true }
const LABEL: Write = { isCheck: false, notifies: false }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Writes that were let go, with the second in which each was. */
function turnsOf(writes: readonly (readonly [string, Write, string?])[]): string[] {
  const turns = new WriteTurns(GITHUB_PACE)
  const gone: string[] = []
  const started = performance.now()
  for (const [name, write, installation = 'one'] of writes) {
    void turns
      .take(installation, write)
      .then(() => gone.push(`${Math.round((performance.now() - started) / 1000)} ${name}`))
  }
  return gone
}

test('one write goes each second, and one that notifies each three', async () => {
  const gone = turnsOf([
    ['a', LABEL],
    ['b', LABEL],
    ['first comment', COMMENT],
    ['second comment', COMMENT],
    ['c', LABEL],
  ])
  await vi.advanceTimersByTimeAsync(20_000)
  expect(gone).toEqual(['0 a', '1 b', '2 first comment', '3 c', '5 second comment'])
})

test('checks go before what came earlier, and installations wait for themselves only', async () => {
  const gone = turnsOf([
    ['comment', COMMENT],
    ['comment', COMMENT],
    ['label', LABEL],
    ['check', CHECK],
    ['check', CHECK],
    ['check of another one', CHECK, 'two'],
  ])
  await vi.advanceTimersByTimeAsync(20_000)
  expect(gone).toEqual(['0 comment', '0 check of another one', '1 check', '2 check', '3 comment', '4 label'])
})

test('who floods checks does not silence the others for ever', async () => {
  const flood = Array.from({ length: 200 }, (_, at) => [`check ${at}`, CHECK] as const)
  const gone = turnsOf([...flood, ['comment', COMMENT]])
  await vi.advanceTimersByTimeAsync(300_000)
  expect(gone).toHaveLength(201)
  expect(gone.findIndex(one => one.endsWith('comment'))).toBe(60)
})

test('a clock that is set changes nothing', async () => {
  const gone = turnsOf([
    ['a', CHECK],
    ['b', CHECK],
  ])
  vi.setSystemTime(Date.now() - 3_600_000)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(gone).toEqual(['0 a', '1 b'])
})
