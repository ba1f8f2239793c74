import { existsSync, readFileSync } from 'node:fs'
import { type Failure, SLOWEST, type Tally, type Took } from './tally-reporter.ts'

/** What test/repository/runner/run.ts writes to BAILIWICK_TALLY. */
export interface Count extends Pick<Tally, 'passed' | 'failed' | 'failures' | 'unstable' | 'slowest'> {
  readonly skipped: number
}

const NOT_RUN: Count = {
  passed: 0,
  failed: 1,
  failures: [{ name: 'a whole run', message: 'it left no count' }],
  unstable: [],
  skipped: 0,
  slowest: { files: [], tests: [] },
}

/** The slowest files and tests of several runs, what failed, and as the last line their sum; a run without a count is a failure. */
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
    ...listed(
      'Passed at a later attempt only',
      all.flatMap(count => count.unstable),
    ),
    ...listed(
      'Failed',
      all.flatMap(count => count.failures),
    ),
    `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`,
  ].join('\n')
}

function listed(title: string, failures: readonly Failure[]): string[] {
  const printable = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, ' ')
  const lines = failures.map(({ name, message }) => `  ${printable(name)}: ${printable(message)}`)
  return lines.length === 0 ? [] : [title, ...lines, '']
}

function slowest(what: string, took: readonly Took[]): string[] {
  const lines = took
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST)
    .map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(7)} s  ${name.replaceAll(/[^\x20-\x7e]/g, ' ')}`)
  return lines.length === 0 ? [] : [`Slowest ${what}`, ...lines, '']
}

/** `node test/repository/runner/sum-up.ts FILE...` */
if (import.meta.main) {
  const read = (path: string): Count | undefined =>
    existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Count) : undefined
  console.log(sumUp(process.argv.slice(2).map(read)))
}
