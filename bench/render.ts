import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { diskTree } from '../src/git/folder-tree.ts'
import { build } from '../src/kustomize/pipeline/build.ts'
import { findProgram } from '../test/repository/runner/programs.ts'
import { record } from './figures.ts'
import { growth } from './growth.ts'
import { overlayOf } from './overlay-of.ts'

// Our build, from the disk to objects with origins, beside the real kustomize on the same directories in one run.
const { values } = parseArgs({ options: { 'kustomize-5000': { type: 'boolean' }, 'memory-of': { type: 'string' } } })
const reference = join(import.meta.dirname, '../../shared/fleets/flux2-multi-tenancy/fleet')
const acme = join(import.meta.dirname, '../test/fleet/fleets/acme/dev-team')
const SIZES = [500, 1000, 2500, 5000]

interface Place {
  readonly root: string
  readonly directory: string
}

// a new tree each time, so that nothing is remembered from the run before
const ours = ({ root, directory }: Place, origins = true) =>
  build(diskTree(root), '', relative(root, directory), { origins })

function theirs(program: string, { directory }: Place): void {
  const args = ['build', '--load-restrictor', 'LoadRestrictionsNone', '--reorder', 'none', directory]
  execFileSync(program, args, { stdio: 'pipe', maxBuffer: 2 ** 28 })
}

function median(runs: number, work: () => void): number {
  const times = Array.from({ length: runs }, () => {
    const start = performance.now()
    work()
    return performance.now() - start
  })
  return times.sort((a, b) => a - b)[runs >> 1]!
}

const ms = (time: number): string => `${time.toFixed(time < 10 ? 2 : 0)} ms`

function compare(name: string, place: Place, kustomize: string | undefined, runs: readonly [number, number]): void {
  const start = performance.now()
  const count = ours(place).length
  const first = performance.now() - start
  // the process that renders lives on, so what counts is a warm one
  for (const until = performance.now() + 1_500; performance.now() < until; ) ours(place)
  const mine = median(runs[0], () => ours(place))
  const real = kustomize && median(runs[1], () => theirs(kustomize, place))
  const compared = real ? { ratio: mine / real, to: 'kustomize' } : {}
  record({ name: `${count} objects`, wall: mine, ...compared })
  const ratio = real ? `kustomize ${ms(real)}, ratio ${(real / mine).toFixed(1)}` : 'kustomize not timed'
  console.log(`${name}, ${count} objects: ours ${ms(mine)} (first in this process ${ms(first)}), ${ratio}`)
}

/** Peak memory of a process that builds this once and does nothing else. */
function peak(directory: string): string {
  return execFileSync(process.execPath, [import.meta.filename, '--memory-of', directory], { encoding: 'utf8' }).trim()
}

function main(): void {
  const kustomize = findProgram('kustomize')
  const scratch = mkdtempSync(join(tmpdir(), 'bench-render-'))
  try {
    const places = SIZES.map((size): Place => {
      const root = join(scratch, String(size))
      return { root, directory: overlayOf(root, size) }
    })
    const [medium, , , large] = places
    const small: Place = existsSync(reference)
      ? { root: reference, directory: join(reference, 'tenants/staging') }
      : { root: acme, directory: join(acme, 'staging') }
    for (let warm = 0; warm < 30; warm++) ours(small)
    compare(
      `small overlay (${relative(join(import.meta.dirname, '../..'), small.directory)})`,
      small,
      kustomize,
      [51, 11],
    )
    compare('namespace, labels and patches', medium!, kustomize, [31, 3])
    compare('the same', large!, values['kustomize-5000'] ? kustomize : undefined, [5, 1])
    const points = SIZES.map((size, index) => [size, median(5, () => ours(places[index]!))] as const)
    console.log(
      `growth: ${points.map(([size, time]) => `${size} in ${ms(time)}`).join(', ')}; exponent ${growth(points).toFixed(2)}`,
    )
    const [on, off] = [true, false].map(origins => median(9, () => ours(large!, origins))) as [number, number]
    console.log(`origins: ${ms(on)} with, ${ms(off)} without, ${(on / off).toFixed(2)} times`)
    console.log(`peak memory of one build of 5000 objects, the process included: ${peak(large!.directory)}`)
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

if (values['memory-of'] === undefined) main()
else {
  ours({ root: join(values['memory-of'], '..'), directory: values['memory-of'] })
  console.log(`${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`)
}
