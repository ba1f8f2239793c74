import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { buildFleet } from '../src/fleet/graph/build-fleet.ts'
import { revisionSetOf } from '../src/fleet/model/input.ts'
import { evaluateFleet } from '../src/verdict/evaluate-fleet.ts'
import { record } from './figures.ts'
import { assertClean } from './fleet/assert-clean.ts'
import { generatedFleet, inputOf, withTree } from './fleet/generated-fleet.ts'
import { hostileWays } from './fleet/hostile-files.ts'

// The check of one tenant's change in a fleet of many, of which another tenant is hostile: how long it takes beside the same
// check without that. Each in a process of its own, as `bailiwick check` is, and what it costs in processor time, which
// another program on the machine does not change. The ratio shall stay below 2, and the verdict be about the change alone.
const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean' },
    size: { type: 'string' },
    only: { type: 'string' },
    measure: { type: 'string' },
  },
})
const size = Number(values.size ?? (values.smoke ? 3 : 2_000))
const HEAP_MB = 6_144

interface Measured {
  readonly seconds: number
  readonly result: string
  /** Tenants that have a new violation or error. */
  readonly concerned: readonly string[]
  readonly hostileErrors: number
}

const generated = generatedFleet(size)
const [hostile = ['', new Map()], victim = ['', new Map()]] = [...generated.tenants]
const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)
const ways = hostileWays(nameOf(hostile[0]))

/** The check of a change of the victim; the hostile tenant's files stand on both sides. */
function measure(way: string): Measured {
  const added = ways.get(way)?.() ?? new Map<string, string>()
  const start = process.cpuUsage()
  const base = withTree(inputOf(generated), hostile[0], new Map([...hostile[1], ...added]))
  const path = 'staging/replicas.yaml'
  const head = withTree(base, victim[0], new Map([...victim[1], [path, victim[1].get(path)!.replace(/\d+\n$/, '9\n')]]))
  const before = buildFleet(base)
  const fleet = buildFleet({ ...head, config: base.fleet.tree })
  const { verdict } = evaluateFleet(fleet, { base: before, revisionSet: revisionSetOf(head) })
  const { user, system } = process.cpuUsage(start)
  if (way === '') assertClean(verdict)
  const fresh = [...verdict.violations, ...verdict.errors].filter(one => one.state === 'new')
  return {
    seconds: (user + system) / 1e6,
    result: verdict.result,
    concerned: [...new Set(fresh.map(one => one.tenant))],
    hostileErrors: verdict.errors.filter(one => one.tenant === nameOf(hostile[0])).length,
  }
}

function inProcess(way: string): Measured | undefined {
  const args = [`--max-old-space-size=${HEAP_MB}`, import.meta.filename, '--size', String(size), '--measure', way]
  try {
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 26, timeout: 600_000 }))
  } catch (error) {
    if (way === '') throw error
    return undefined
  }
}

function main(): void {
  const without = inProcess('')!
  console.log(`${size} tenants, one change: ${without.seconds.toFixed(1)} s of processors, ${without.result}`)
  let worst = 0
  for (const way of ways.keys()) {
    if (values.only && !values.only.split(',').some(part => way.includes(part))) continue
    const measured = inProcess(way)
    if (!measured) {
      console.log(`  ${way}: no verdict`)
      worst = Number.POSITIVE_INFINITY
      continue
    }
    const ratio = measured.seconds / without.seconds
    worst = Math.max(worst, ratio)
    record({ name: way, cpu: measured.seconds * 1000, ratio, to: 'without' })
    const others = measured.concerned.length > 0 ? `, new findings of ${measured.concerned.join(', ')}` : ''
    const errors = `${measured.hostileErrors} errors of the hostile tenant`
    console.log(`  ${way}: ratio ${ratio.toFixed(2)}, ${measured.result}, ${errors}${others}`)
  }
  console.log(`worst ratio: ${worst.toFixed(2)}`)
  if (worst === Number.POSITIVE_INFINITY) process.exitCode = 1
}

if (values.measure === undefined) main()
else console.log(JSON.stringify(measure(values.measure)))
