import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findAssets, NO_ASSETS } from '../test/envtest/assets.ts'
import { findFlux, NO_FLUX } from '../test/envtest/flux-assets.ts'
import { installFlux } from '../test/envtest/flux-controller.ts'
import { startCluster, type TestCluster } from '../test/envtest/start.ts'
import { quantile } from './growth.ts'
import { benchNodes, createTenants, type Shape } from './worker/bench-fleet.ts'
import { createKustomizations, type Push, startController } from './worker/controller.ts'
import { floorSeconds } from './worker/floor.ts'
import type { Measured } from './worker/worker-process.ts'

// How long the worker takes on a real API server, beside a plain loop over the same objects on the same server: the
// ratios of one run can be compared however busy the machine is.
const { values } = parseArgs({
  options: { smoke: { type: 'boolean' }, nodes: { type: 'string' }, beside: { type: 'string' } },
})
const SIZES = values.nodes ? values.nodes.split(',').map(Number) : values.smoke ? [5] : [50, 200, 1000]
/** Sizes at which the real kustomize-controller runs beside the worker: it takes minutes for 1,000. */
const BESIDE = values.beside ? values.beside.split(',').map(Number) : values.smoke ? [5] : [50, 200]
const DRIFTS = values.smoke ? 3 : 40
const LARGE = values.smoke ? 50 : 5000

if (!findAssets()) {
  console.log(NO_ASSETS)
  process.exit(0)
}

async function withWorker(server: TestCluster, work: (run: (shape: Shape) => Promise<Measured>) => Promise<void>) {
  const child: ChildProcess = fork(join(import.meta.dirname, 'worker/worker-process.ts'), [server.workerKubeconfig])
  await once(child, 'message')
  try {
    await work(async shape => {
      child.send(shape)
      const [measured] = (await once(child, 'message')) as [Measured]
      if (measured.failed > 0) throw new Error(`${measured.failed} nodes were not applied`)
      return measured
    })
  } finally {
    child.disconnect()
    await once(child, 'exit')
  }
}

const s = (seconds: number) => `${seconds.toFixed(2)} s`

function say(what: string, { seconds, requests, objectRequests, peakMb }: Measured, floor?: number): void {
  const ratio = floor === undefined ? '' : `, ${(seconds / floor).toFixed(2)} x floor (${s(floor)})`
  console.log(
    `  ${what}: ${s(seconds)}${ratio}, ${requests} requests, ${objectRequests} for objects, peak ${peakMb} MB`,
  )
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
    const floor = () => floorSeconds(server.workerKubeconfig, benchNodes({ nodes: size, prefix: 'floor', revision: 1 }))
    const before = await floor()
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
      const more = `${(flux.seconds / seconds).toFixed(1)} x the worker`
      console.log(`  ${what}: kustomize-controller ${s(flux.seconds)}, ${more} (${table(flux.verbs)})`)
    }
  } finally {
    await server.stop()
  }
}

for (const size of SIZES) {
  const server = await startCluster()
  try {
    await createTenants(server)
    console.log(`${size} Kustomizations x 4 objects`)
    const floor = (prefix: string) =>
      floorSeconds(server.workerKubeconfig, benchNodes({ nodes: size, prefix, revision: 1 }))
    await withWorker(server, async run => {
      const shape = { nodes: size, prefix: 'w', revision: 1 }
      const before = await floor('before')
      const first = await run(shape)
      say('first apply', first, (before + (await floor('after'))) / 2)
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

const server = await startCluster()
try {
  await createTenants(server)
  console.log(`1 Kustomization x ${LARGE} objects`)
  await withWorker(server, async run => {
    const shape = { nodes: 1, objects: LARGE, prefix: 'large', revision: 1 }
    const floor = await floorSeconds(server.workerKubeconfig, benchNodes({ ...shape, prefix: 'floor' }))
    say('first apply', await run(shape), floor)
    say('nothing changed', await run({ ...shape, revision: 2 }))
  })
} finally {
  await server.stop()
}
