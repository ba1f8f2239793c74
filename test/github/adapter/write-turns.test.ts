import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { GITHUB_PACE, RANKS, type Write, WriteTurns } from '../../../src/github/client/client-class.ts'

const CHECK: Write = { rank: RANKS.check, notifies: false }
const COMMENT: Write = { rank: RANKS.other, notifies: true }
const LABEL: Write = { rank: RANKS.other, notifies: false }

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

test('first the checks of new commits, then answers, other checks, comments, and the trail', async () => {
  const gone = turnsOf([
    ['trail', { rank: RANKS.trail, notifies: false }],
    ['trail', { rank: RANKS.trail, notifies: false }],
    ['comment', COMMENT],
    ['check', CHECK],
    ['answer', { rank: RANKS.answer, notifies: true }],
    ['check of a new commit', { rank: RANKS.firstCheck, notifies: false }],
  ])
  await vi.advanceTimersByTimeAsync(20_000)
  expect(gone).toEqual(['0 trail', '1 check of a new commit', '2 answer', '3 check', '4 trail', '5 comment'])
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
