import { existsSync, readFileSync } from 'node:fs'
import { SLOWEST, type Tally, type Took } from './tally-reporter.ts'

/** What test/run.ts writes to BAILIWICK_TALLY. */
export interface Count extends Pick<Tally, 'passed' | 'failed' | 'slowest'> {
  readonly skipped: number
}

const NOT_RUN: Count = { passed: 0, failed: 1, skipped: 0, slowest: { files: [], tests: [] } }

/** The slowest files and tests of several runs, and as the last line their sum; a run without a count is a failure. */
export function sumUp(counts: readonly (Count | undefined)[]): string {
  const all = counts.map(count => count ?? NOT_RUN)
  const sum = (one: 'passed' | 'failed' | 'skipped') => all.reduce((total, count) => total + count[one], 0)
  return [
    ...slowest(
      'files',
      all.flatMap(count => count.slowest.files),
    ),
    ...slowest(
      'tests',
      all.flatMap(count => count.slowest.tests),
    ),
    `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`,
  ].join('\n')
}

function slowest(what: string, took: readonly Took[]): string[] {
  const lines = took
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST)
    .map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name.replaceAll(/[^\x20-\x7e]/g, ' ')}`)
  return lines.length === 0 ? [] : [`Slowest ${what}`, ...lines, '']
}

/** `node test/sum-up.ts FILE...` */
if (import.meta.main) {
  const read = (path: string): Count | undefined =>
    existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Count) : undefined
  console.log(sumUp(process.argv.slice(2).map(read)))
}
