import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { findProgram } from '../test/programs.ts'
import { generatedFleet } from './fleet/generated-fleet.ts'
import { kustomizeLoop } from './fleet/kustomize-loop.ts'
import { type Measured, measureCold, measureWarm } from './fleet/measure-verdict.ts'
import { growth, quantile } from './growth.ts'

// Verdicts on generated fleets of two clusters, beside the loop that people run today: kustomize over every overlay and
// base. Every size is measured in processes of its own, so that a cold verdict is cold.
const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean' },
    sizes: { type: 'string' },
    runs: { type: 'string' },
    'kustomize-full': { type: 'boolean' },
    'no-kustomize': { type: 'boolean' },
    measure: { type: 'string' },
  },
})
const sizes = (values.sizes ?? (values.smoke ? '2,4' : '10,100,1000,3000')).split(',').map(Number)
const runs = Number(values.runs ?? (values.smoke ? 3 : 100))
const SAMPLE = 10
/** Beyond, kustomize takes minutes for the one overlay that holds all tenants. */
const MAX_KUSTOMIZE = 1_000

function measured(size: number): Measured {
  const run = (what: string) => {
    const args = [import.meta.filename, '--measure', what, '--sizes', String(size), '--runs', String(runs)]
    return execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
  }
  return { ...JSON.parse(run('cold')), warm: JSON.parse(run('warm')) }
}

const ms = (time: number): string => (time < 100 ? `${time.toFixed(1)} ms` : `${Math.round(time)} ms`)

function compare(size: number, ours: number): void {
  const program = values['no-kustomize'] ? undefined : findProgram('kustomize')
  const full = values['kustomize-full'] === true
  if (!program || (size > MAX_KUSTOMIZE && !full)) {
    console.log(`  kustomize not timed${program ? ' (--kustomize-full does)' : ''}`)
    return
  }
  const { time, builds, measured: built } = kustomizeLoop(program, generatedFleet(size), full ? size : SAMPLE)
  const scaled = built < builds ? `, scaled from ${built} of them` : ''
  console.log(
    `  kustomize, ${builds} builds${scaled}: ${ms(time)}; ratio to a cold verdict ${(time / ours).toFixed(1)}`,
  )
}

function main(): void {
  const all = sizes.map(size => {
    const { summary, nodes, objects, cold, warm } = measured(size)
    console.log(`${size} tenants x 2 clusters, ${nodes} Kustomizations, ${objects} objects: ${summary}`)
    console.log(`  cold: ${ms(cold.time)} (${ms(cold.cpu)} of processors), peak memory ${cold.memory} MiB`)
    const { tenant, shared, base, memory } = warm!
    const [half, most] = [quantile(tenant, 0.5), quantile(tenant, 0.95)]
    console.log(`  one file of a tenant changed, ${tenant.length} changes: median ${ms(half)}, p95 ${ms(most)}`)
    console.log(`  one file of the platform changed: median ${ms(quantile(shared, 0.5))}`)
    console.log(`  one file that the overlay of all tenants reads changed: median ${ms(quantile(base, 0.5))}`)
    console.log(`  peak memory of the session: ${memory} MiB`)
    compare(size, cold.time)
    return { size, cold: cold.time, tenant: half, memory: cold.memory }
  })
  const line = (of: (one: (typeof all)[number]) => number, from: number) =>
    growth(all.filter(({ size }) => size >= from).map(one => [one.size, of(one)] as const)).toFixed(2)
  // below a hundred tenants what is there once, the engine and the definitions of Flux, takes most of the time
  const from = all.filter(({ size }) => size >= 100).length > 1 ? 100 : 0
  console.log(
    `growth from ${from || sizes[0]} tenants on: cold ${line(one => one.cold, from)}, one file of a tenant ${line(one => one.tenant, from)}, memory ${line(one => one.memory, from)}`,
  )
}

if (values.measure === 'cold') console.log(JSON.stringify(measureCold(sizes[0]!)))
else if (values.measure === 'warm') console.log(JSON.stringify(measureWarm(sizes[0]!, runs)))
else main()
