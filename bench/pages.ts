import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildFleet } from '../src/fleet/graph/build-fleet.ts'
import { revisionSetOf } from '../src/fleet/model/input.ts'
import { fleetPageOf } from '../src/report/page/build-pages.ts'
import { PAGE_LIMITS, PageStore } from '../src/surface/pages/page-store.ts'
import { MemoryTtlStore } from '../src/surface/pages/ttl-store.ts'
import { Pages } from '../src/surface/web/pages.ts'
import { loopbackGate } from '../src/surface/web/sign-in.ts'
import { evaluateFleet } from '../src/verdict/evaluate-fleet.ts'
import { largeFleet } from '../test/report/page/large-fleet.ts'
import { record } from './figures.ts'
import { assertClean } from './fleet/assert-clean.ts'
import { generatedFleet, inputOf } from './fleet/generated-fleet.ts'
import { FLEET_URL } from './fleet/platform-files.ts'
import { quantile } from './growth.ts'

// What a view of a page costs, and what the worker spends to make the largest one: CPU time, so that other programs do not
// count. A view includes its client, over HTTP. Stores are opened anew for the first view of each page.
// `npm run bench:pages -- 1000`

const tenants = Number(process.argv[2] ?? 1_000)
const TIMES = 9

async function cpuMs(work: () => unknown): Promise<number> {
  const since = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

const pathsOf = (name: string) =>
  [
    ['fleet', '/fleets/acme/fleet'],
    ['fleet, part 7', '/fleets/acme/fleet?pulls-part=7&violations-part=7&audit-part=7&tenants-part=7'],
    ['fleet, tenant', `/fleets/acme/fleet?tenant=${name}`],
    ['fleet, text', '/fleets/acme/fleet?text=0042'],
    ['fleet, cluster', '/fleets/acme/fleet?cluster=staging'],
    ['fleet, open', '/fleets/acme/fleet?state=open'],
    ['fleet, waived', '/fleets/acme/fleet?state=waived'],
    ['fleet, blocked', '/fleets/acme/fleet?state=blocked'],
    ['fleet, namespace', `/fleets/acme/fleet?namespace=${name}`],
    ['graph', '/fleets/acme/fleet/graph'],
    ['graph, tenant', `/fleets/acme/fleet/graph?tenant=${name}`],
    ['list', '/'],
  ] as const

/** Prints the views of a fleet whose names end so. */
async function printViews(tail: string): Promise<void> {
  const { page, pulls, names } = largeFleet(tenants, tail)
  const shelf = new MemoryTtlStore(PAGE_LIMITS)
  const filled = new PageStore(shelf)
  if (!(await filled.keep(page))) throw new Error('the page is too large')
  await filled.keepPulls(pulls)
  const open = () => new Pages({ store: new PageStore(shelf), gate: loopbackGate, queueDepths: async () => [] })
  let pages = open()
  const server = createServer((request, response) => void pages.serve(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const view = async (path: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`)
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
    return response.text()
  }
  console.log(`\n${tenants} tenants, names of ${names[0]?.length} characters`)
  console.log('view                first ms   next ms  x list      KB')
  const paths = pathsOf(encodeURIComponent(names[42] ?? ''))
  for (const [, path] of paths) await view(path)
  const small: number[] = []
  for (let time = 0; time < TIMES; time++) small.push(await cpuMs(() => view('/')))
  for (const [what, path] of paths) {
    pages = open()
    const first = await cpuMs(() => view(path))
    const next: number[] = []
    for (let time = 0; time < TIMES; time++) next.push(await cpuMs(() => view(path)))
    const median = quantile(next, 0.5)
    const ratio = median / quantile(small, 0.5)
    record({ name: `${what}, names of ${names[0]?.length}`, cpu: median, ratio, to: 'the list' })
    const kilobytes = Buffer.byteLength(await view(path)) / 1_000
    const columns = [first.toFixed(0), median.toFixed(0), ratio.toFixed(1), kilobytes.toFixed(0)]
    console.log(`${what.padEnd(18)} ${columns.map(column => column.padStart(9)).join('')}`)
  }
  await new Promise(resolve => server.close(resolve))
}

/** Prints what it takes to make and pack the page of a generated fleet, and for how long at most nothing else can run. */
async function printMaking(): Promise<void> {
  const input = inputOf(generatedFleet(tenants))
  const evaluation = evaluateFleet(buildFleet(input), { revisionSet: revisionSetOf(input) })
  assertClean(evaluation.verdict)
  const fleet = { repository: FLEET_URL, branch: 'main', commit: 'f'.repeat(40), evaluation, audit: [] }
  const steps = fleetPageOf(
    { ...fleet, access: { namespaces: [], left: 0 } },
    { owner: 'acme', repo: 'fleet', at: new Date().toISOString() },
  )
  const took: number[] = []
  for (let done = false; !done; ) {
    const since = process.cpuUsage()
    const step = steps.next()
    const { user, system } = process.cpuUsage(since)
    took.push((user + system) / 1_000)
    done = step.done ?? false
    if (!step.done) continue
    const packing = await cpuMs(() => new PageStore(new MemoryTtlStore(PAGE_LIMITS)).keep(step.value))
    const total = took.reduce((sum, ms) => sum + ms, 0)
    const longest = Math.max(...took)
    record({ name: 'making the page', cpu: total })
    record({ name: 'longest step of it', cpu: longest })
    console.log(
      `\nmaking the page: ${total.toFixed(0)} ms in ${took.length} steps, the longest ${longest.toFixed(0)} ms`,
    )
    console.log(`packing it: ${packing.toFixed(0)} ms, of which most are in other threads`)
  }
}

await printViews('')
await printViews('x'.repeat(244))
await printMaking()
