import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { findProgram } from '../test/repository/runner/programs.ts'
import { startThread } from '../workers/fleets/open-thread.ts'
import { record } from './figures.ts'
import { generatedFleet } from './fleet/generated-fleet.ts'
import { type KustomizeTime, kustomizeLoop } from './fleet/kustomize-loop.ts'
import type { Task } from './fleet/measure-thread.ts'
import type { Cold, Warm } from './fleet/measure-verdict.ts'
import { growth, quantile } from './growth.ts'

// Verdicts on generated fleets of two clusters, beside the loop that people run today: kustomize over every overlay and
// base. A cold verdict is measured twice: on the repository of the fleet alone, which is what that loop takes its time
// for (two overlays of all tenants, and a base of each), and with the repositories of all tenants, which a verdict reads
// too. Every measurement has a process of its own, so that a cold verdict is cold, and a thread as that of the workers.
const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean' },
    sizes: { type: 'string' },
    runs: { type: 'string' },
    'kustomize-full': { type: 'boolean' },
    'no-kustomize': { type: 'boolean' },
    measure: { type: 'string' },
    given: { type: 'string' },
  },
})
const sizes = (values.sizes ?? (values.smoke ? '2,4' : '10,100,1000,3000')).split(',').map(Number)
const runs = Number(values.runs ?? (values.smoke ? 3 : 100))
const SAMPLE = 10
/** The session of the largest fleet takes about two thirds of it. */
const HEAP_MB = 4_096
/** Beyond, kustomize takes minutes for the one overlay that holds all tenants. */
const MAX_KUSTOMIZE = 1_000

interface Measured {
  readonly alone: Cold
  readonly all: Cold
  readonly warm: Warm
}

function measured(size: number): Measured {
  const run = (...what: readonly string[]) => {
    const args = [import.meta.filename, '--sizes', String(size), '--runs', String(runs), '--measure', ...what]
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26 }))
  }
  return { alone: run('cold', '--given', 'alone'), all: run('cold', '--given', 'all'), warm: run('warm') }
}

const ms = (time: number): string => (time < 100 ? `${time.toFixed(1)} ms` : `${Math.round(time)} ms`)

function sayCold(what: string, { nodes, objects, time, cpu, memory, summary }: Cold): void {
  console.log(`  cold, ${what} (${objects} objects of ${nodes} Kustomizations): ${ms(time)}`)
  console.log(`    ${ms(cpu)} of processors, peak memory ${memory} MiB: ${summary}`)
}

function compare(size: number, { alone, all }: Measured): { alone?: number; all?: number } {
  const program = values['no-kustomize'] ? undefined : findProgram('kustomize')
  const full = values['kustomize-full'] === true
  if (!program || (size > MAX_KUSTOMIZE && !full)) {
    console.log(`  kustomize not timed${program ? ' (--kustomize-full does)' : ''}`)
    return {}
  }
  const times = kustomizeLoop(program, generatedFleet(size), full ? size : SAMPLE)
  const say = (what: string, { time, builds, measured: built }: KustomizeTime, ours: Cold) => {
    const scaled = built < builds ? `, scaled from ${built} of them` : ''
    const ratio = (time / ours.time).toFixed(1)
    console.log(
      `  kustomize, ${what}, ${builds} builds${scaled}: ${ms(time)}; ratio to our cold verdict on that ${ratio}`,
    )
  }
  say(ALONE, times.alone, alone)
  say(ALL, times.all, all)
  return { alone: alone.time / times.alone.time, all: all.time / times.all.time }
}

const ALONE = "the fleet's own repository alone"
const ALL = 'with the repositories of all tenants'

function recordSize(size: number, { alone, all, warm }: Measured, ratios: { alone?: number; all?: number }): void {
  const cold = (name: string, { time, cpu, memory }: Cold, ratio: number | undefined) => {
    const compared = ratio === undefined ? {} : { ratio, to: 'kustomize on every overlay and base' }
    record({ name: `${size} tenants, cold, ${name}`, wall: time, cpu, memory, ...compared })
  }
  cold('fleet alone', alone, ratios.alone)
  cold('all repositories', all, ratios.all)
  const toCold = (name: string, times: readonly number[]) => {
    const wall = quantile(times, 0.5)
    record({ name: `${size} tenants, warm, ${name}`, wall, memory: warm.memory, ratio: wall / all.time, to: 'cold' })
  }
  toCold('one file of a tenant', warm.tenant)
  toCold('one file of the platform', warm.shared)
}

function main(): void {
  const all = sizes.map(size => {
    const one = measured(size)
    const { tenant, shared, base, memory } = one.warm
    console.log(`${size} tenants x 2 clusters`)
    sayCold(ALONE, one.alone)
    sayCold(ALL, one.all)
    const [half, most] = [quantile(tenant, 0.5), quantile(tenant, 0.95)]
    console.log(`  warm, all repositories given, one file of a tenant changed, ${tenant.length} changes:`)
    console.log(`    median ${ms(half)}, p95 ${ms(most)}`)
    console.log(`  one file of the platform changed: median ${ms(quantile(shared, 0.5))}`)
    console.log(`  one file that the overlay of all tenants reads changed: median ${ms(quantile(base, 0.5))}`)
    console.log(`  peak memory of the session: ${memory} MiB`)
    recordSize(size, one, compare(size, one))
    return { size, alone: one.alone.time, cold: one.all.time, tenant: half, memory: one.all.memory }
  })
  // below a hundred tenants what is there once, the engine and the definitions of Flux, takes most of the time
  const from = all.filter(({ size }) => size >= 100).length > 1 ? 100 : 0
  const line = (of: (one: (typeof all)[number]) => number) =>
    growth(all.filter(({ size }) => size >= from).map(one => [one.size, of(one)] as const)).toFixed(2)
  console.log(`growth from ${from || sizes[0]} tenants on:`)
  console.log(`  cold, ${ALONE}: ${line(one => one.alone)}; ${ALL}: ${line(one => one.cold)}`)
  console.log(`  one file of a tenant: ${line(one => one.tenant)}; memory: ${line(one => one.memory)}`)
}

if (values.measure === undefined) main()
else {
  const task: Task = {
    measure: values.measure,
    given: values.given === 'alone' ? 'alone' : 'all',
    size: sizes[0]!,
    runs,
  }
  const thread = startThread(new URL('./fleet/measure-thread.ts', import.meta.url), HEAP_MB, task)
  thread.on('message', measured => console.log(JSON.stringify(measured)))
}
