import type { Tally } from './tally-reporter.ts'

/** More files than these with a failure are no chance: they are not run a second time. */
export const MOST_AGAIN = 8

/**
 * The files that failed and may have failed by chance, to be run alone once more: none where an error belongs to no
 * file, or where there are more than MOST_AGAIN.
 */
export function filesToRunAgain(tally: Tally): readonly string[] {
  const files = [...new Set(tally.failures.map(({ name }) => fileOf(name)))]
  return tally.failures.length < tally.failed || files.length > MOST_AGAIN ? [] : files
}

/** What the first run counted, with `files` as their second run counted them; what passed only there is listed as unstable. */
export function mergeTallies(first: Tally, files: readonly string[], second: Tally): Tally {
  const again = new Set(files)
  const kept = first.files.filter(({ file }) => !again.has(file))
  const stillFailed = new Set(second.failures.map(({ name }) => name))
  const passedAlone = first.failures
    .filter(({ name }) => !stillFailed.has(name))
    .map(({ name, message }) => ({ name: `${name} (alone)`, message }))
  return {
    files: [...kept, ...second.files],
    passed: kept.reduce((sum, { passed }) => sum + passed, 0) + second.passed,
    failed: second.failed,
    failures: second.failures,
    unstable: [...first.unstable.filter(({ name }) => !again.has(fileOf(name))), ...second.unstable, ...passedAlone],
    skipped: [...first.skipped.filter(({ file }) => !again.has(file)), ...second.skipped],
    slowest: first.slowest,
  }
}

/** `test/a.test.ts: suite > name`, or with ` (on redis)` after the file. */
function fileOf(name: string): string {
  return name.split(/: | \(on redis\)/, 1)[0]!
}
