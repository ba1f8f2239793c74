import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { type FleetInput, revisionSetOf } from '../../src/fleet/model/input.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import { EvaluateSession } from '../../src/verdict/evaluate-sides.ts'
import { assertClean } from './assert-clean.ts'
import { fleetAlone, type GeneratedFleet, generatedFleet, inputOf, withTree } from './generated-fleet.ts'
import { FLEET_URL } from './platform-files.ts'

/** One verdict in a process that has evaluated nothing before; times in milliseconds, memory in MiB. */
export interface Cold {
  readonly summary: string
  readonly nodes: number
  readonly objects: number
  readonly time: number
  readonly cpu: number
  readonly memory: number
}

/** Of a session that has evaluated a change before: one file of a tenant, of the platform, of a tenant's base in the fleet. */
export interface Warm {
  readonly tenant: number[]
  readonly shared: number[]
  readonly base: number[]
  readonly memory: number
}

/** Which repositories are given: that of the fleet alone, or those of all tenants too. */
export type Given = 'alone' | 'all'

const memory = () => Math.round(process.resourceUsage().maxRSS / 1024)

/** One verdict on a generated fleet, in a process that has evaluated nothing before. */
export function measureCold(size: number, given: Given): Cold {
  const every = inputOf(generatedFleet(size))
  const input = given === 'all' ? every : fleetAlone(every)
  const [start, before] = [performance.now(), process.cpuUsage()]
  const fleet = buildFleet(input)
  const { verdict } = evaluateFleet(fleet, { revisionSet: revisionSetOf(input) })
  const time = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  assertClean(verdict, given === 'alone')
  const objects = fleet.nodes.reduce((sum, node) => sum + node.objects.length, 0)
  const cpu = (user + system) / 1000
  return { summary: verdict.summary, nodes: fleet.nodes.length, objects, time, cpu, memory: memory() }
}

/** Verdicts on changes, one after the other, each compared with what the branch holds. */
export function measureWarm(size: number, runs: number): Warm {
  const generated = generatedFleet(size)
  const base = inputOf(generated)
  const session = new EvaluateSession()
  // the first ones fill the session and warm the engine up
  for (let run = 0; run < 5; run++) timeOf(session, base, tenantChange(generated, base, 1_000 + run))
  const times = (count: number, change: (run: number) => FleetInput) =>
    Array.from({ length: count }, (_, run) => timeOf(session, base, change(run)))
  const tenant = times(runs, run => tenantChange(generated, base, run))
  const shared = times(5, run =>
    platformChange(generated, base, 'infrastructure/classes.yaml', 'What tenants run', run),
  )
  const file = 'tenants/base/team-0001/rbac.yaml'
  const own = times(5, run => platformChange(generated, base, file, 'gotk-reconciler', run))
  return { tenant, shared, base: own, memory: memory() }
}

function timeOf(session: EvaluateSession, base: FleetInput, changed: FleetInput): number {
  const start = performance.now()
  const before = session.build(base)
  const head = session.build({ ...changed, config: base.fleet.tree })
  const { verdict } = session.evaluateFleet(head, { base: before, revisionSet: revisionSetOf(changed) })
  const time = performance.now() - start
  assertClean(verdict)
  return time
}

/** Another tenant each time, so that nothing is known from the time before. */
function tenantChange(generated: GeneratedFleet, base: FleetInput, run: number): FleetInput {
  const [url, files] = [...generated.tenants][run % generated.tenants.size]!
  const path = 'staging/replicas.yaml'
  return withTree(base, url, new Map([...files, [path, files.get(path)!.replace(/\d+\n$/, `${10 + run}\n`)]]))
}

function platformChange({ fleet }: GeneratedFleet, base: FleetInput, path: string, from: string, run: number) {
  return withTree(base, FLEET_URL, new Map([...fleet, [path, fleet.get(path)!.replace(from, `${from}${run}`)]]))
}
