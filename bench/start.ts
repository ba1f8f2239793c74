import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { record } from './figures.ts'
import { quantile } from './growth.ts'

// How much CPU time a start takes: from the bundle (`npm run build`), from the sources, and Node's own, in turns, so that
// the ratios of one run can be compared however busy the machine is. The first round fills the compile cache and is not counted.
const root = join(import.meta.dirname, '..')
const shared = join(root, '../shared/fleets/flux2-multi-tenancy')
const address = 'https://github.com/fluxcd/flux2-multi-tenancy'
const reference = ['check', `${shared}/fleet`, '--url', address, '--repo', `${address}#dev-team=${shared}/dev-team`]
const check = existsSync(shared) ? reference : ['check', join(root, 'test/fleet/fleets/acme/fleet')]
const runs = Number(process.argv[2] ?? 9)

const programs: Record<string, readonly string[]> = {
  'node -e 0': ['-e', '0'],
  'bundle --help': [join(root, 'dist/bailiwick.js'), '--help'],
  'sources --help': [join(root, 'src/surface/cli/bailiwick.js'), '--help'],
  'bundle check': [join(root, 'dist/bailiwick.js'), ...check],
  'sources check': [join(root, 'src/surface/cli/bailiwick.js'), ...check],
}

if (!existsSync(join(root, 'dist/bailiwick.js'))) throw new Error('there is no bundle: npm run build')

/** User and system time of a process in ms, as the shell counts it. */
function cpuOf(args: readonly string[]): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" > /dev/null 2>&1'
  const said = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`, 'bash', process.execPath, ...args], {
    encoding: 'utf8',
  })
  return said
    .trim()
    .split(' ')
    .reduce((sum, seconds) => sum + Number(seconds) * 1_000, 0)
}

const times = new Map(Object.keys(programs).map(name => [name, [] as number[]]))
for (let round = 0; round <= runs; round++) {
  for (const [name, args] of Object.entries(programs)) {
    const time = cpuOf(args)
    if (round > 0) times.get(name)?.push(time)
  }
}
console.log(`CPU time of ${runs} starts each, median: ${check.slice(0, 2).join(' ')}`)
const own = quantile(times.get('node -e 0') ?? [], 0.5)
for (const [name, all] of times) {
  const median = quantile(all, 0.5)
  record({ name, cpu: median, ratio: median / own, to: "Node's own start" })
  console.log(`  ${name.padEnd(15)} ${median.toFixed(0).padStart(5)} ms, ${(median / own).toFixed(1)} times Node's own`)
}
