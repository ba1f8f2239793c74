import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { findFlux, NO_FLUX } from '../../../tools/envtest/flux-assets.ts'
import { shareOf } from '../../attacks/shares.ts'
import { changedSince, testsOf } from './changed-tests.ts'
import { ALL } from './longest-first.ts'
import { filesToRunAgain, mergeTallies } from './merge-tallies.ts'
import { findProgram, type Program, programCache, programs } from './programs.ts'
import { SLOW } from './slow.ts'
import type { Count } from './sum-up.ts'
import type { SkippedTest, Tally } from './tally-reporter.ts'
import { temporaryRoot } from './temporary-root.ts'

const root = resolve(import.meta.dirname, '../../..')

/** What Node made of each source file the last time: workers, and programs that tests start, begin sooner. */
const COMPILED = join(root, 'node_modules/.cache/compiled')

/**
 * `npm test`, `npm run test:slow` (`--slow`), `npm test -- --all`: the quick tests, the slow ones, or both side by side, then
 * the ones left out with their reasons; the last line is the count. `npm test -- FILTER...`: what matches, quick or slow. BAILIWICK_TALLY names a file that
 * keeps the count for test/repository/runner/sum-up.ts. `npm test -- --changed [COMMIT]`: what the changes since a commit may change.
 */
async function main(): Promise<number> {
  const directory = mkdtempSync(join(temporaryRoot(), 'bw-')) // short: long paths are cut where they are printed
  try {
    const given = argumentsOf(process.argv.slice(2))
    if (given === undefined) {
      console.log('No test reads what was changed.')
      return 0
    }
    fillCompiled()
    const { code, tally } = await run(directory, given)
    printSkipped(tally.skipped)
    const refused = process.env.CI_REQUIRE_ALL ? tally.skipped.filter(test => !mayBeSkipped(test)) : []
    for (const test of refused) console.log(`not allowed to be skipped here: ${test.file}: ${test.name}`)
    const tooFew = fewerThanDocumented(tally, given)
    if (tooFew !== undefined) console.log(tooFew)
    const failed = tally.failed + refused.length + (tooFew === undefined ? 0 : 1)
    const skipped = tally.skipped.length - refused.length
    if (process.env.BAILIWICK_TALLY) {
      const { passed, failures, unstable, slowest } = tally
      const count: Count = { passed, failed, failures, unstable, skipped, slowest }
      writeFileSync(process.env.BAILIWICK_TALLY, JSON.stringify(count))
    }
    console.log(`\n${tally.passed} passed, ${failed} failed, ${skipped} skipped`)
    return code !== 0 ? code : failed > 0 ? 1 : 0
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** One run; on a CI machine the few files that failed run once more, alone, because a loaded machine makes tests fail that are right. */
async function run(directory: string, given: readonly string[]): Promise<{ code: number; tally: Tally }> {
  const report = join(directory, 'tally.json')
  const code = await vitest(report, given)
  const all = readTally(report)
  // what was not asked for was not left out
  const isNamed = given.some(argument => /^(?:-t|--testNamePattern)\b/.test(argument))
  const tally = isNamed ? { ...all, skipped: all.skipped.filter(test => test.reason !== '') } : all
  const whole = given.every((argument, at) => argument.startsWith('-') || given[at - 1] === '--project')
  const again = process.env.CI && whole ? filesToRunAgain(tally) : []
  if (again.length === 0) return { code, tally }
  console.log(`\nOnce more, alone: ${again.join(' ')}`)
  const alone = join(directory, 'alone.json')
  const codeAlone = await vitest(alone, [...given, '--maxWorkers=1', ...again])
  return { code: codeAlone, tally: mergeTallies(tally, again, readTally(alone)) }
}

/** What README.md says of the number of quick tests, if all of them ran and it is not true. */
function fewerThanDocumented({ passed, failed, skipped }: Tally, given: readonly string[]): string | undefined {
  if (!['--project quick', `--project ${ALL} --project on redis`].includes(given.join(' '))) return undefined
  const [, documented = 'NaN'] =
    /`npm test` runs more than ([\d,]+) tests/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
  const ran = passed + failed + skipped.length
  return ran > Number(documented.replace(',', ''))
    ? undefined
    : `README.md: "more than ${documented} tests", and there are ${ran}. Correct it.`
}

/** Whether the quick and the slow tests run side by side. */
const hasAll = (given: readonly string[]): boolean => given.includes(ALL)

/** Who names files or tests gets all that match, or with --slow the slow ones of them. */
function argumentsOf(all: readonly string[]): readonly string[] | undefined {
  const changed = all.indexOf('--changed')
  if (changed >= 0) return changedArguments(all.slice(0, changed), all.slice(changed + 1))
  const given = all.flatMap(argument => caseArguments(argument) ?? [argument])
  const rest = given.filter(argument => argument !== '--slow' && argument !== '--all')
  if (rest.length < given.length) {
    return ['--project', given.includes('--all') ? ALL : 'slow', '--project', 'on redis', ...rest]
  }
  const chosen = rest.some(argument => !argument.startsWith('-') || argument.startsWith('--project'))
  return chosen ? rest : ['--project', 'quick', ...rest]
}

/** The quick tests, or with --slow the slow ones, that what differs from a commit (default: the last one) may change. */
function changedArguments(before: readonly string[], [commit = 'HEAD', ...after]: readonly string[]) {
  const [base, rest] = commit.startsWith('-') ? ['HEAD', [commit, ...after]] : [commit, after]
  const isSlow = (path: string) => SLOW.includes(path)
  const wantsSlow = [...before, ...rest].includes('--slow')
  const tests = testsOf(changedSince(base)).filter(path => isSlow(path) === wantsSlow)
  const others = [...before, ...rest].filter(argument => argument !== '--slow')
  return tests.length === 0 ? undefined : ['--project', wantsSlow ? 'slow' : 'quick', ...others, ...tests]
}

/** `test/attacks/ID` is the tests of that case, in the file that has its share. */
function caseArguments(argument: string): readonly string[] | undefined {
  const [, id] = /^test\/attacks\/([^/]+)(?:\/(?:case\.yaml)?)?$/.exec(argument) ?? []
  const share = id === undefined ? undefined : shareOf(id)
  return share === undefined ? undefined : [`test/attacks/attacks-${share}.test.ts`, '-t', `^${id}: `]
}

/** Threads, and processes that tests kill, read what was compiled, and never write it: in a fresh clone one that ends does. */
function fillCompiled(): void {
  if (existsSync(COMPILED)) return
  const parts = ['src/start-site', 'workers/start-workers', 'workers/fleets/evaluate', 'src/tenants/onboard/plan']
  const args = [...parts.flatMap(part => ['--import', `./${part}.ts`]), '--eval', 'process.exit()']
  spawnSync(nodePath(), args, { cwd: root, env: { ...process.env, NODE_COMPILE_CACHE: COMPILED }, stdio: 'inherit' })
}

function vitest(report: string, given: readonly string[]): Promise<number> {
  const reporters = ['--reporter=default', `--reporter=${join(root, 'test/repository/runner/tally-reporter.ts')}`]
  const child = spawn(nodePath(), [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters, ...given], {
    cwd: root,
    stdio: 'inherit',
    env: {
      NODE_COMPILE_CACHE: COMPILED,
      ...process.env,
      ...programVariables(),
      BAILIWICK_TALLY: report,
      ...(hasAll(given) ? { BAILIWICK_ALL_TESTS: '1' } : {}),
      TMPDIR: dirname(report),
    },
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal))
  return new Promise((settle, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => settle(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
  })
}

/** The Node of development, whatever started this. */
function nodePath(): string {
  const own = join(root, 'node_modules/node/bin/node')
  return existsSync(own) ? own : process.execPath
}

/** Tests find the programs by these variables; what the caller has set stays. */
function programVariables(): Record<string, string> {
  const found = (Object.keys(programs) as Program[]).flatMap(name => {
    const path = findProgram(name)
    return path === undefined ? [] : [[programs[name].variable, path] as const]
  })
  const inCache = ['etcd', 'kube-apiserver'].every(name => existsSync(join(programCache, name)))
  const assets = !findAssets() && inCache ? { KUBEBUILDER_ASSETS: programCache } : {}
  return { ...Object.fromEntries(found), ...assets }
}

function readTally(report: string): Tally {
  if (existsSync(report)) return JSON.parse(readFileSync(report, 'utf8')) as Tally
  console.log('vitest ended without a report: see its message above')
  return { files: [], passed: 0, failed: 1, failures: [], unstable: [], skipped: [], slowest: { files: [], tests: [] } }
}

function printSkipped(skipped: readonly SkippedTest[]): void {
  if (skipped.length === 0) return
  console.log('\nSkipped')
  const groups = Map.groupBy(
    skipped,
    test => `${test.file}: ${test.reason || 'a program or folder it needs is missing'}`,
  )
  for (const [title, tests] of groups) {
    console.log(`  ${title}`)
    for (const test of tests) console.log(`    - ${test.name}`)
  }
  const missing = (Object.keys(programs) as Program[]).filter(name => findProgram(name) === undefined)
  for (const name of missing) console.log(`  ${name} is missing: ${programs[name].get}`)
  if (!findAssets()) console.log(`  ${NO_ASSETS}`)
  if (!findFlux()) console.log(`  ${NO_FLUX}`)
  if (!existsSync(join(root, '../shared/fleets')))
    console.log('  ../shared/fleets is missing: the reference fleets are not part of this repository')
}

/**
 * With CI_REQUIRE_ALL only what needs data beside the repository may be left out, and only where that data is absent.
 * A test that gave no reason (`skipIf`) is evaluated by what its file speaks of.
 */
function mayBeSkipped({ file, name, reason }: SkippedTest): boolean {
  const spoken = `${name} ${reason || readFileSync(join(root, file), 'utf8')}`
  return ['fleets', 'oracles'].some(folder => {
    const speaksOfIt = new RegExp(`shared(?:/|',\\s*')${folder}`).test(spoken)
    return speaksOfIt && !existsSync(join(root, '../shared', folder))
  })
}

process.exitCode = await main()
