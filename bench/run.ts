import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Figure } from './figures.ts'
import { resultsPage } from './results.ts'

// `npm run bench`: every bench, in at most ten minutes, and bench/RESULTS.md of it. `--full`: the large sizes. `--only NAME,NAME`:
// these alone; the rows of the others stay away. It ends at the first bench that fails, and writes nothing then.
const { values } = parseArgs({ options: { full: { type: 'boolean' }, only: { type: 'string' } } })
const root = join(import.meta.dirname, '..')
const PAGE = join(import.meta.dirname, 'RESULTS.md')

/** Each bench, with its arguments without `--full`, and with it. */
const BENCHES: Readonly<Record<string, readonly [short: readonly string[], full: readonly string[]]>> = {
  start: [['5'], ['9']],
  render: [[], ['--kustomize-5000']],
  verdict: [['--sizes', '10,100,400', '--runs', '20'], []],
  // every shape at its full number of objects takes an hour
  hostile: [['--size', '50', '--only', 'macros,ignore files,Kustomizations of one,include'], []],
  pages: [['300'], ['1000']],
  policy: [[], []],
  schemas: [[], []],
  webhook: [[], []],
  worker: [['--nodes', '50', '--beside', '50', '--large', '1000'], []],
}

/** Runs a bench; its own figures, and what all of it took. */
function figuresOf(name: string, file: string): Figure[] {
  const args = BENCHES[name]![values.full ? 1 : 0]
  console.log(`\n== ${name} ${args.join(' ')}`)
  const script = 'TIMEFORMAT="%U %S %R"; { time "$@" 2>&3; } 3>&2 2>"$TIMES"'
  const times = `${file}.times`
  const { status } = spawnSync('bash', ['-c', script, 'bash', process.execPath, join('bench', `${name}.ts`), ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, BAILIWICK_FIGURES: file, TIMES: times },
  })
  if (status !== 0) throw new Error(`bench/${name}.ts failed: bench/RESULTS.md is not written`)
  const [user = 0, system = 0, wall = 0] = readFileSync(times, 'utf8').trim().split(' ').map(Number)
  const own = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  return [
    ...own.map(line => JSON.parse(line) as Figure).map(one => ({ ...one, name: `${name}: ${one.name}` })),
    { name: `${name}: all of it`, wall: wall * 1000, cpu: (user + system) * 1000 },
  ]
}

const scratch = mkdtempSync(join(tmpdir(), 'bailiwick-bench-'))
try {
  const names = values.only?.split(',') ?? Object.keys(BENCHES)
  if (names.includes('start')) execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
  const figures = names.flatMap(name => figuresOf(name, join(scratch, name)))
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  const isClean = git('status', '--porcelain', '--', 'src', 'workers', 'bench/*.ts') === ''
  const run = {
    commit: `${git('rev-parse', '--short', 'HEAD')}${isClean ? '' : ' with changes'}`,
    date: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} cores, ${cpus()[0]?.model.trim() ?? 'unknown'}, load ${loadavg()[2]?.toFixed(1)}`,
    isFull: values.full ?? false,
  }
  writeFileSync(PAGE, resultsPage(run, figures, existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''))
  console.log(`\n${PAGE}`)
} finally {
  rmSync(scratch, { recursive: true })
}
