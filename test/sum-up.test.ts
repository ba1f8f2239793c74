import { describe, expect, test } from 'vitest'
import { type Count, sumUp } from './sum-up.ts'

const count = (passed: number, failed: number, skipped: number, files: Record<string, number> = {}): Count => ({
  passed,
  failed,
  skipped,
  slowest: { files: Object.entries(files).map(([name, ms]) => ({ name, ms })), tests: [] },
})

describe('the end of .ci/run', () => {
  test('is the sum of its runs in one line', () => {
    expect(sumUp([count(7, 0, 1), count(3, 2, 4)])).toBe('10 passed, 2 failed, 5 skipped')
  })

  test('a run without a count is a failure', () => {
    expect(sumUp([count(7, 0, 1), undefined])).toBe('7 passed, 1 failed, 1 skipped')
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
