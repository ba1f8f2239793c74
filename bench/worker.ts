import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findAssets, NO_ASSETS } from '../test/envtest/assets.ts'
import { startCluster, type TestCluster } from '../test/envtest/start.ts'
import { quantile } from './growth.ts'
import { benchNodes, createTenants, type Shape } from './worker/bench-fleet.ts'
import { floorSeconds } from './worker/floor.ts'
import type { Measured } from './worker/worker-process.ts'

// How long the worker takes on a real API server, beside a plain loop over the same objects on the same server: the
// ratios of one run can be compared however busy the machine is.
const { values } = parseArgs({ options: { smoke: { type: 'boolean' }, nodes: { type: 'string' } } })
const SIZES = values.nodes ? values.nodes.split(',').map(Number) : values.smoke ? [5] : [50, 200, 1000]
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
