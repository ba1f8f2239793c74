import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

export interface SkippedTest {
  readonly file: string
  readonly name: string
  /** What the test said when it left itself out (`ctx.skip(reason)`); empty for one left out by `skipIf`. */
  readonly reason: string
}

/** How long a file took, with all that it set up, or one of its tests. */
export interface Took {
  readonly name: string
  readonly ms: number
}

/** A test that failed, in the end or at its first attempt, and the first line of what it said. */
export interface Failure {
  readonly name: string
  readonly message: string
}

export interface Tally {
  /** Each file, and how many of its tests passed. */
  readonly files: readonly { readonly file: string; readonly passed: number }[]
  readonly passed: number
  readonly failed: number
  readonly failures: readonly Failure[]
  /** Passed at the second attempt (CI only): counted as passed, and listed. */
  readonly unstable: readonly Failure[]
  readonly skipped: readonly SkippedTest[]
  /** The slowest of each, slowest first. */
  readonly slowest: { readonly files: readonly Took[]; readonly tests: readonly Took[] }
}

export const SLOWEST = 20

/** Writes what ran to the file that test/repository/runner/run.ts names, because vitest's own summary has no reasons and no fixed last line. */
class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const target = process.env.BAILIWICK_TALLY
    if (target === undefined) throw new Error('BAILIWICK_TALLY is not set: start the tests with `npm test`')
    writeFileSync(target, JSON.stringify(tallyOf(modules, unhandled.length)))
  }
}

export default TallyReporter

function tallyOf(modules: readonly TestModule[], unhandled: number): Tally {
  const tests = modules.flatMap(module => [...module.children.allTests()])
  // A file or a suite that breaks outside its tests fails no test, but it is a failure all the same.
  const broken = modules
    .flatMap(module => [module, ...module.children.allSuites()])
    .filter(part => part.errors().length)
  const failed = tests.filter(test => test.result().state === 'failed').length + broken.length + unhandled
  const passed = tests.filter(test => test.result().state === 'passed').length
  const slowest = {
    files: slowestOf(modules.map(module => ({ name: placeOf(module), ms: module.diagnostic().duration }))),
    tests: slowestOf(
      tests.map(test => ({
        name: `${placeOf(test.module)}: ${test.fullName}`,
        ms: test.diagnostic()?.duration ?? 0,
      })),
    ),
  }
  const failures = [
    ...tests.filter(test => test.result().state === 'failed').map(failureOf),
    ...broken.map(part => ({
      name: 'module' in part ? `${placeOf(part.module)}: ${part.fullName}` : placeOf(part),
      message: firstLine(part.errors()),
    })),
  ]
  const unstable = tests.filter(test => test.diagnostic()?.flaky).map(failureOf)
  const files = modules.map(module => ({
    file: relative(process.cwd(), module.moduleId),
    passed: [...module.children.allTests('passed')].length,
  }))
  return { files, passed, failed, failures, unstable, skipped: tests.filter(isLeftOut).map(skippedTest), slowest }
}

function failureOf(test: TestCase): Failure {
  return { name: `${placeOf(test.module)}: ${test.fullName}`, message: firstLine(test.result().errors ?? []) }
}

function firstLine([error]: readonly SerializedError[]): string {
  return (error?.message ?? 'no message').split('\n', 1)[0]!.slice(0, 300)
}

function slowestOf(all: readonly Took[]): Took[] {
  return all.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)
}

/** A file, and of which of its runs this is, where it runs more than once. */
function placeOf({ moduleId, project }: TestModule): string {
  const file = relative(process.cwd(), moduleId)
  return project.name === 'on redis' ? `${file} (on redis)` : file
}

function isLeftOut(test: TestCase): boolean {
  const { state } = test.result()
  return state === 'skipped' || state === 'pending'
}

function skippedTest(test: TestCase): SkippedTest {
  const result = test.result()
  const reason = result.state === 'skipped' ? (result.note ?? '') : 'never ran'
  return { file: relative(process.cwd(), test.module.moduleId), name: test.fullName, reason }
}
