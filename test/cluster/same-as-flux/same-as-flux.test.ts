import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt } from '../../../src/cluster/json-at.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { create, createPlatformAccount, createTenant } from '../cluster-under-test.ts'
import { type FluxWorld, missing, openFluxWorld } from '../status/flux-world.ts'
import { openWorker, type TestWorker } from '../status/worker-world.ts'
import { type AuditLog, openAuditLog } from './audit.ts'
import { SAME_CASES } from './cases.ts'
import { DIFFERENCES } from './differences.ts'
import { fluxDoes } from './flux-side.ts'
import { differencesOf, factsOf, type Snapshot, snapshot } from './left-behind.ts'
import type { SameCase } from './step.ts'
import { workerDoes } from './worker-side.ts'

/** Some cases alone, by a pattern of their names: `ONLY=prune`. */
const ONLY = process.env.ONLY ?? ''
const CASES = Object.entries(SAME_CASES).filter(([name]) => new RegExp(ONLY).test(name))
const STEPS = Math.max(...CASES.map(([, { steps }]) => steps.length))
const placed = (side: string): ReadonlyMap<string, SameCase> =>
  new Map(CASES.map(([, one], number) => [`${side}-${number}-x`, one]))

test('docs/worker.md lists every difference that a case may show, and no other', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/worker.md'), 'utf8')
  const [, table = ''] = text.split(/^## What differs$|^Held by other tests:$/m)
  const rows = table.split('\n').filter(line => line.startsWith('| '))
  const names = rows.slice(1).map(line => line.split(' | ')[0]!.slice(2))
  expect(names.sort()).toEqual(Object.keys(DIFFERENCES).sort())
})

describe('the worker beside the real kustomize-controller, on the same input', () => {
  let audit: AuditLog
  let world: FluxWorld
  let worker: TestWorker
  const theirs: Snapshot[] = []
  const ours: Snapshot[] = []

  beforeAll(async () => {
    if (missing !== undefined) return
    audit = openAuditLog()
    world = await openFluxWorld({ flags: audit.flags })
    // a loaded machine answers late, and what goes on beside a run is told by the next
    const memory = new ClusterMemory({ silenceMs: 60_000, patienceMs: 10_000 })
    Object.assign(memory.board, { events: world.sink.url })
    worker = await openWorker(world, memory)
    await createPlatformAccount(world.cluster)
    await create(world.cluster, '/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    await Promise.all([...placed('flux'), ...placed('ours')].map(([namespace, one]) => prepare(world, namespace, one)))
    const left = async (into: Snapshot[]) => {
      await new Promise(resolve => setTimeout(resolve, 300))
      into.push(await snapshot(world.cluster, { events: world.sink.events, requests: audit.take() }))
      world.sink.events.length = 0
    }
    await world.startController(['--concurrent=16', '--kube-api-qps=1000', '--kube-api-burst=2000'])
    for (let index = 0; index < STEPS; index++) {
      await fluxDoes(world, placed('flux'), index)
      await left(theirs)
    }
    await world.stopController()
    for (let index = 0; index < STEPS; index++) {
      await workerDoes(world, worker, placed('ours'), index)
      await left(ours)
    }
  }, 300_000)
  afterAll(async () => {
    worker?.client.close()
    await world?.close()
    audit?.close()
  })

  const seen = new Set<string>()
  test.for(CASES.map(([name], number) => [name, number] as const))('%s', ([name, number], { skip }) => {
    if (missing !== undefined) return skip(missing)
    const { steps, differs = [], mayDiffer = [] } = SAME_CASES[name]!
    const unexplained: string[] = []
    const shown = new Set<string>()
    for (const index of steps.keys()) {
      const found = differencesOf(
        factsOf(theirs[index]!, `flux-${number}-x`),
        factsOf(ours[index]!, `ours-${number}-x`),
      )
      for (const line of found) {
        const why = [...differs, ...mayDiffer].filter(key => DIFFERENCES[key]!.test(line))
        for (const key of why) shown.add(key)
        if (why.length === 0) unexplained.push(`step ${index} ${line}`)
      }
    }
    for (const key of shown) seen.add(key)
    expect(
      unexplained,
      'what differs (- kustomize-controller, + worker) and no difference of this case explains',
    ).toEqual([])
    expect(
      differs.filter(key => !shown.has(key)),
      'differences that this case names and that do not show',
    ).toEqual([])
  })

  test('each difference that is told shows somewhere', ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    if (ONLY !== '') return skip('only some cases ran')
    expect(Object.keys(DIFFERENCES).filter(key => !seen.has(key))).toEqual([])
  })
})

/** A tenant with its account. `isPlatform`: it may do everything. */
async function prepare({ cluster }: FluxWorld, namespace: string, { isPlatform }: SameCase): Promise<void> {
  await createTenant(cluster, namespace, 'dev-team')
  const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  if (isPlatform) {
    await create(cluster, rbac, {
      metadata: { name: `admin-of-${namespace}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'dev-team', namespace }],
    })
  }
  const user = `system:serviceaccount:${namespace}:dev-team`
  const resourceAttributes = { verb: 'create', resource: 'configmaps', ...(isPlatform ? {} : { namespace }) }
  // the API server learns of bindings one after the other
  for (let left = 400; left > 0; left--) {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const { body } = await cluster.request('POST', path, { spec: { user, resourceAttributes } })
    if (jsonAt(body, 'status', 'allowed') === true) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`the rights of ${user} are not known`)
}
