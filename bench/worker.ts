import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findAssets, NO_ASSETS } from '../tools/envtest/assets.ts'
import { findFlux, NO_FLUX } from '../tools/envtest/flux-assets.ts'
import { installFlux } from '../tools/envtest/flux-controller.ts'
import { startCluster, type TestCluster } from '../tools/envtest/start.ts'
import { record } from './figures.ts'
import { quantile } from './growth.ts'
import { benchNodes, createTenants, type Shape } from './worker/bench-fleet.ts'
import { createKustomizations, type Push, startController } from './worker/controller.ts'
import type { Measured } from './worker/worker-process.ts'

// How long the worker takes on a real API server, beside a plain loop over the same objects on the same server: the
// ratios of one run can be compared however busy the machine is. A first apply is measured from an approved revision set in
// memory to the last write; fetching, rendering and evaluating come before it.
const { values } = parseArgs({
  options: {
    smoke: { type: 'boolean' },
    nodes: { type: 'string' },
    beside: { type: 'string' },
    large: { type: 'string' },
  },
})
/** `none`: no size. */
const sizesOf = (text: string) => (text === 'none' ? [] : text.split(',').map(Number))
const SIZES = values.nodes ? sizesOf(values.nodes) : values.smoke ? [5] : [50, 200, 1000]
/** Sizes at which the real kustomize-controller runs beside the worker: it takes minutes for 1,000. */
const BESIDE = values.beside ? sizesOf(values.beside) : values.smoke ? [5] : [50, 200]
const DRIFTS = values.smoke ? 3 : 40
/** Objects in one Kustomization. */
const LARGE = values.large ? sizesOf(values.large) : values.smoke ? [50] : [5000]

/** As deploy/worker starts a worker; the floor is measured with the same. */
const FLAGS = ['--max-semi-space-size=16']

if (!findAssets()) {
  console.log(NO_ASSETS)
  process.exit(0)
}

/** A new process for each: what runs for the first time is slow, and must be so on both sides. */
async function withProcess<T>(
  server: TestCluster,
  program: string,
  work: (run: (shape: Shape) => Promise<T>) => Promise<void>,
): Promise<void> {
  const path = join(import.meta.dirname, 'worker', program)
  const child: ChildProcess = fork(path, [server.workerKubeconfig], { execArgv: FLAGS })
  await once(child, 'message')
  try {
    await work(async shape => {
      child.send(shape)
      const [answer] = (await once(child, 'message')) as [T]
      return answer
    })
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
}

const withWorker = (server: TestCluster, work: (run: (shape: Shape) => Promise<Measured>) => Promise<void>) =>
  withProcess<Measured>(server, 'worker-process.ts', run =>
    work(async shape => {
      const measured = await run(shape)
      if (measured.failed > 0) throw new Error(`${measured.failed} nodes were not applied`)
      return measured
    }),
  )

async function floorOf(server: TestCluster, shape: Shape): Promise<number> {
  let seconds = 0
  await withProcess<number>(server, 'floor-process.ts', async run => {
    seconds = await run(shape)
  })
  return seconds
}

/** The floor before and after the first apply, whose mean the apply is compared with. */
async function firstApply(server: TestCluster, shape: Shape, run: (shape: Shape) => Promise<Measured>): Promise<void> {
  const before = await floorOf(server, { ...shape, prefix: 'before' })
  const first = await run(shape)
  const after = await floorOf(server, { ...shape, prefix: 'after' })
  const load = readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
  say('first apply', first)
  const ratio = first.seconds / ((before + after) / 2)
  const name = `first apply, ${shape.nodes} Kustomizations of ${shape.objects ?? 4} objects`
  record({ name, wall: first.seconds * 1000, memory: first.peakMb, ratio, to: 'a bare loop over the same objects' })
  console.log(`    ${ratio.toFixed(2)} x floor (${s(before)} before, ${s(after)} after; load ${load})`)
}

const s = (seconds: number) => `${seconds.toFixed(2)} s`

function say(what: string, { seconds, requests, objectRequests, peakMb }: Measured): void {
  console.log(`  ${what}: ${s(seconds)}, ${requests} requests, ${objectRequests} for objects, peak ${peakMb} MB`)
}

/** Seconds until what somebody changed is as it was approved, one object after the other. */
async function driftSeconds(server: TestCluster, shape: Shape): Promise<number[]> {
  const times: number[] = []
  for (const { namespace, name } of benchNodes(shape).slice(1, DRIFTS + 1)) {
    const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`
    const start = performance.now()
    await server.request('PATCH', path, { data: { text: 'drifted' } }, { contentType: 'application/merge-patch+json' })
    for (let value = 'drifted'; value === 'drifted'; ) {
      const { body } = await server.request('GET', path)
      value = (body as { data: { text: string } }).data.text
      if (performance.now() - start > 60_000) throw new Error(`${path} is not put back`)
    }
    times.push((performance.now() - start) / 1000)
  }
  return times
}

const table = (verbs: Readonly<Record<string, number>>) =>
  Object.entries(verbs)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([verb, count]) => `${verb} ${count}`)
    .join(', ')

/** First the controller, then the worker, each with Kustomizations of its own and their status, on one API server. */
async function beside(size: number): Promise<void> {
  const server = await startCluster()
  try {
    await installFlux(server)
    await createTenants(server)
    console.log(`${size} Kustomizations x 4 objects, with status and events, beside kustomize-controller`)
    const shapes = (prefix: string): Shape[] => [
      { nodes: size, prefix, revision: 1 },
      { nodes: size, prefix, revision: 2 },
      { nodes: size, prefix, revision: 3, changed: 0 },
    ]
    const before = await floorOf(server, { nodes: size, prefix: 'floor', revision: 1 })
    const controller = await startController(server)
    const theirs: Push[] = []
    for (const shape of shapes('c')) theirs.push(await controller.push(benchNodes(shape), shape.revision))
    await controller.stop()
    const ours: Measured[] = []
    await createKustomizations(server, benchNodes(shapes('w')[0]!))
    await withWorker(server, async run => {
      for (const shape of shapes('w')) ours.push(await run(shape))
    })
    console.log(`  floor of the first apply: ${s(before)}`)
    for (const [index, what] of ['first apply', 'nothing changed', 'one changed'].entries()) {
      const [worker, flux] = [ours[index]!, theirs[index]!]
      const { seconds, objectRequests, statusRequests, peakMb } = worker
      const ratio = index === 0 ? `, ${(seconds / before).toFixed(2)} x floor` : ''
      const requests = `${objectRequests} requests for objects, ${statusRequests} for status and events`
      console.log(`  ${what}: worker ${s(seconds)}${ratio}, ${requests}, peak ${peakMb} MB (${table(worker.verbs)})`)
      const { later } = worker
      if (later.requests > 0)
        console.log(`    new revisions: ${later.requests} requests in ${s(later.seconds)} after it`)
      const to = 'kustomize-controller'
      record({
        name: `${what}, ${size} beside it`,
        wall: seconds * 1000,
        memory: peakMb,
        ratio: seconds / flux.seconds,
        to,
      })
      const more = `${(flux.seconds / seconds).toFixed(1)} x the worker`
      console.log(`  ${what}: kustomize-controller ${s(flux.seconds)}, ${more} (${table(flux.verbs)})`)
    }
  } finally {
    await server.stop()
  }
}

async function large(objects: number): Promise<void> {
  const server = await startCluster()
  try {
    await createTenants(server)
    console.log(`1 Kustomization x ${objects} objects`)
    await withWorker(server, async run => {
      const shape = { nodes: 1, objects, prefix: 'large', revision: 1 }
      await firstApply(server, shape, run)
      say('nothing changed', await run({ ...shape, revision: 2 }))
    })
  } finally {
    await server.stop()
  }
}

for (const size of SIZES) {
  const server = await startCluster()
  try {
    await createTenants(server)
    console.log(`${size} Kustomizations x 4 objects`)
    await withWorker(server, async run => {
      const shape = { nodes: size, prefix: 'w', revision: 1 }
      await firstApply(server, shape, run)
      say('nothing changed', await run({ ...shape, revision: 2 }))
      say('one changed', await run({ ...shape, revision: 3, changed: 0 }))
      const drifts = await driftSeconds(server, { ...shape, revision: 3, changed: 0 })
      console.log(`  drift put back: p50 ${s(quantile(drifts, 0.5))}, p95 ${s(quantile(drifts, 0.95))}`)
    })
  } finally {
    await server.stop()
  }
}

if (findFlux()) for (const size of BESIDE) await beside(size)
else console.log(NO_FLUX)

for (const objects of LARGE) await large(objects)
