import { describe, expect, test } from 'vitest'
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

  test('what failed, and what passed at the second attempt only, is named', () => {
    const failures = [{ name: 'a.test.ts: one', message: 'expected 1 to be 2' }]
    const unstable = [{ name: 'b.test.ts: tw\u001b[0mo', message: 'timed out' }]
    expect(
      sumUp([
        { ...count(7, 1, 0), failures },
        { ...count(1, 0, 0), unstable },
      ]).split('\n'),
    ).toEqual([
      'Passed at the second attempt only',
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
