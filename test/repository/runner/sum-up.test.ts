import { describe, expect, test } from 'vitest'
import { filesToRunAgain, MOST_AGAIN, mergeTallies } from './merge-tallies.ts'
import { type Count, sumUp } from './sum-up.ts'

const count = (passed: number, failed: number, skipped: number, files: Record<string, number> = {}): Count => ({
  passed,
  failed,
  failures: [],
  unstable: [],
  skipped,
  slowest: { files: Object.entries(files).map(([name, ms]) => ({ name, ms })), tests: [] },
})

describe('the end of .ci/run', () => {
  test('is the sum of its runs in one line', () => {
    expect(sumUp([count(7, 0, 1), count(3, 2, 4)])).toBe('10 passed, 2 failed, 5 skipped')
  })

  test('a run without a count is a failure', () => {
    const lines = ['Failed', '  a whole run: it left no count', '', '7 passed, 1 failed, 1 skipped']
    expect(sumUp([count(7, 0, 1), undefined]).split('\n')).toEqual(lines)
  })

  test('what failed, and what passed at a later attempt only, is named', () => {
    const failures = [{ name: 'a.test.ts: one', message: 'expected 1 to be 2' }]
    const unstable = [{ name: 'b.test.ts: tw\u001b[0mo', message: 'timed out' }]
    expect(
      sumUp([
        { ...count(7, 1, 0), failures },
        { ...count(1, 0, 0), unstable },
      ]).split('\n'),
    ).toEqual([
      'Passed at a later attempt only',
      '  b.test.ts: tw [0mo: timed out',
      '',
      'Failed',
      '  a.test.ts: one: expected 1 to be 2',
      '',
      '8 passed, 1 failed, 0 skipped',
    ])
  })

  test('before it the slowest of all runs are named, whatever bytes their names have', () => {
    const quick = count(1, 0, 0, { 'a.test.ts': 1500, 'b.test.ts': 10 })
    const lines = sumUp([quick, count(1, 0, 0, { 'c\0.test.ts': 20_000 })]).split('\n')
    expect(lines).toEqual([
      'Slowest files',
      '   20.0 s  c .test.ts',
      '    1.5 s  a.test.ts',
      '    0.0 s  b.test.ts',
      '',
      '2 passed, 0 failed, 0 skipped',
    ])
  })

  test('of many only twenty are named', () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${at}.test.ts`, at]))
    expect(sumUp([count(1, 0, 0, many), count(1, 0, 0, many)]).match(/ s {2}/g)).toHaveLength(20)
  })
})

describe('files that run again alone', () => {
  const tally = (files: Record<string, number>, failed: readonly string[]) => ({
    ...count(
      Object.values(files).reduce((a, b) => a + b, 0),
      failed.length,
      0,
    ),
    files: Object.entries(files).map(([file, passed]) => ({ file, passed })),
    failures: failed.map(name => ({ name, message: 'timed out' })),
    skipped: [],
  })
  const first = tally({ 'a.test.ts': 5, 'b.test.ts': 3 }, ['b.test.ts (on redis): x > y', 'b.test.ts: x > z'])

  test('are those that failed, unless they are many or an error belongs to no file', () => {
    expect(filesToRunAgain(first)).toEqual(['b.test.ts'])
    expect(filesToRunAgain({ ...first, failed: 3 })).toEqual([])
    const many = (length: number) =>
      tally(
        {},
        Array.from({ length }, (_, at) => `${at}.test.ts: x`),
      )
    expect(filesToRunAgain(many(MOST_AGAIN))).toHaveLength(MOST_AGAIN)
    expect(filesToRunAgain(many(MOST_AGAIN + 1))).toEqual([])
  })

  test('count as they ended then; what passed only then is named', () => {
    const merged = mergeTallies(first, ['b.test.ts'], tally({ 'b.test.ts': 4 }, ['b.test.ts: x > z']))
    expect(merged).toMatchObject({ passed: 9, failed: 1, failures: [{ name: 'b.test.ts: x > z' }] })
    expect(merged.unstable).toEqual([{ name: 'b.test.ts (on redis): x > y (alone)', message: 'timed out' }])
  })

  test('a second run that left no report is a failure', () => {
    const none = { ...tally({}, []), failed: 1 }
    expect(mergeTallies(first, ['b.test.ts'], none)).toMatchObject({ passed: 5, failed: 1 })
  })
})
