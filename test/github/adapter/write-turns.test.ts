import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { BailiwickError } from '../../../src/base/errors.ts'
import { GITHUB_PACE, RANKS, type Write, WriteTurns } from '../../../src/github/client/client-class.ts'

const CHECK: Write = { rank: RANKS.check, notifies: false }
const COMMENT: Write = { rank: RANKS.other, notifies: true }
const LABEL: Write = { rank: RANKS.other, notifies: false }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Writes that were let go, with the seconds after which each was. */
function turnsOf(writes: readonly (readonly [string, Write, string?])[]): string[] {
  const turns = new WriteTurns(GITHUB_PACE)
  const gone: string[] = []
  const started = performance.now()
  for (const [name, write, installation = 'one'] of writes) {
    void turns
      .take(installation, write)
      .then(() => gone.push(`${Math.round((performance.now() - started) / 100) / 10} ${name}`))
  }
  return gone
}

test('one write goes each 0.8 s, and one that notifies each three', async () => {
  const gone = turnsOf([
    ['a', LABEL],
    ['b', LABEL],
    ['first comment', COMMENT],
    ['second comment', COMMENT],
    ['c', LABEL],
  ])
  await vi.advanceTimersByTimeAsync(20_000)
  expect(gone).toEqual(['0 a', '0.8 b', '1.6 first comment', '2.4 c', '4.6 second comment'])
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
  expect(gone).toEqual(['0 comment', '0 check of another one', '0.8 check', '1.6 check', '2.4 label', '3.2 comment'])
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
  expect(gone).toEqual(['0 trail', '0.8 check of a new commit', '1.6 answer', '2.4 check', '3.2 trail', '4.6 comment'])
})

test('who floods checks does not silence the others for ever', async () => {
  const flood = Array.from({ length: 200 }, (_, at) => [`check ${at}`, CHECK] as const)
  const gone = turnsOf([...flood, ['comment', COMMENT]])
  await vi.advanceTimersByTimeAsync(300_000)
  expect(gone).toHaveLength(201)
  expect(gone.findIndex(one => one.endsWith('comment'))).toBe(60)
})

/** Verdicts in a burst, each with its check and a comment brought up to date: when each write went, in ms. */
function burst(verdicts: number, everyMs: number) {
  const turns = new WriteTurns(GITHUB_PACE)
  const gone = { checks: [] as number[], others: [] as number[], refused: [] as BailiwickError[] }
  const started = performance.now()
  const write = (rank: Write['rank'], to: number[]) =>
    turns.take('one', { rank, notifies: false }).then(
      () => to.push(performance.now() - started),
      error => gone.refused.push(error),
    )
  for (let at = 0; at < verdicts; at++)
    setTimeout(() => {
      void write(RANKS.firstCheck, gone.checks)
      void write(RANKS.other, gone.others)
    }, at * everyMs)
  return gone
}

/** The most writes within any span of that length. */
function most(times: readonly number[], spanMs: number): number {
  return Math.max(...times.map(from => times.filter(at => at >= from && at < from + spanMs).length))
}

test('35 verdicts with their comments go within a minute, never 80 writes', async () => {
  const gone = burst(100, 0)
  await vi.advanceTimersByTimeAsync(59_000)
  expect(gone.checks.length + gone.others.length).toBeGreaterThanOrEqual(70)
  await vi.advanceTimersByTimeAsync(120_000)
  expect(gone.checks).toHaveLength(100)
  expect(most([...gone.checks, ...gone.others], 60_000)).toBeLessThan(80)
})

test('200 verdicts an hour go hour after hour, never 500 writes', async () => {
  const gone = burst(600, 18_000)
  await vi.advanceTimersByTimeAsync(3 * 3_600_000 + 60_000)
  expect(gone.refused).toEqual([])
  expect([gone.checks.length, gone.others.length]).toEqual([600, 600])
  expect(most([...gone.checks, ...gone.others], 3_600_000)).toBeLessThan(500)
})

test('what the hour does not hold comes back, after the checks', async () => {
  const gone = burst(600, 1_600)
  await vi.advanceTimersByTimeAsync(1_200_000)
  expect(gone.checks.length).toBeGreaterThanOrEqual(300)
  expect(most([...gone.checks, ...gone.others], 3_600_000)).toBeLessThanOrEqual(480)
  expect(gone.refused[0]).toMatchObject({ code: 'github-unavailable', limited: true })
  expect(gone.refused[0]?.retryAfter).toBeGreaterThan(2_000)
})

test('a clock that is set changes nothing', async () => {
  const gone = turnsOf([
    ['a', CHECK],
    ['b', CHECK],
  ])
  vi.setSystemTime(Date.now() - 3_600_000)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(gone).toEqual(['0 a', '0.8 b'])
})
