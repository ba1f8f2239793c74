import { jsonAt } from '../../../src/cluster/json.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { create, createPlatformAccount, createTenant } from '../cluster-under-test.ts'
import { type FluxWorld, openFluxWorld } from '../status/flux-world.ts'
import { openWorker } from '../status/worker-world.ts'
import { openAuditLog } from './audit.ts'
import { fluxDoes } from './flux-side.ts'
import { type Snapshot, snapshot } from './left-behind.ts'
import type { SameCase } from './step.ts'
import { workerDoes } from './worker-side.ts'

/** What each of the two left after each step. */
interface BothSides {
  readonly theirs: readonly Snapshot[]
  readonly ours: readonly Snapshot[]
}

/** The namespace of a case. */
export const placeOf = (side: 'flux' | 'ours', number: number) => `${side}-${number}-x`

const placed = (side: 'flux' | 'ours', cases: readonly SameCase[]): ReadonlyMap<string, SameCase> =>
  new Map(cases.map((one, number) => [placeOf(side, number), one]))

/** Has the real kustomize-controller, then the worker, do all of the cases on one API server: each case in namespaces of its own. */
export async function sideBySide(cases: readonly SameCase[]): Promise<BothSides> {
  const audit = openAuditLog()
  const world = await openFluxWorld({ flags: audit.flags })
  // a loaded machine answers late, and what goes on beside a run is told by the next
  const memory = new ClusterMemory({ silenceMs: 60_000, patienceMs: 10_000 })
  Object.assign(memory.board, { events: world.sink.url })
  const worker = await openWorker(world, memory)
  const steps = Math.max(...cases.map(one => one.steps.length))
  const theirs: Snapshot[] = []
  const ours: Snapshot[] = []
  const left = async (into: Snapshot[]) => {
    await new Promise(resolve => setTimeout(resolve, 300))
    into.push(await snapshot(world.cluster, { events: world.sink.events, requests: audit.take() }))
    world.sink.events.length = 0
  }
  try {
    await createPlatformAccount(world.cluster)
    await create(world.cluster, '/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    const all = [...placed('flux', cases), ...placed('ours', cases)]
    await Promise.all(all.map(([namespace, one]) => prepare(world, namespace, one)))
    await world.startController(['--concurrent=16', '--kube-api-qps=1000', '--kube-api-burst=2000'])
    for (let index = 0; index < steps; index++) {
      await fluxDoes(world, placed('flux', cases), index)
      await left(theirs)
    }
    await world.stopController()
    for (let index = 0; index < steps; index++) {
      await workerDoes(world, worker, placed('ours', cases), index)
      await left(ours)
    }
    return { theirs, ours }
  } finally {
    worker.client.close()
    memory.close()
    await world.close()
    audit.close()
  }
}

/** A tenant with its account. `isPlatform`: it may do everything. */
async function prepare({ cluster }: FluxWorld, namespace: string, { isPlatform, hasSecond }: SameCase): Promise<void> {
  await createTenant(cluster, namespace, 'dev-team')
  const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
  if (isPlatform) {
    await create(cluster, rbac, {
      metadata: { name: `admin-of-${namespace}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'dev-team', namespace }],
    })
  }
  if (hasSecond) {
    const second = `${namespace}-two`
    await create(cluster, '/api/v1/namespaces', { metadata: { name: second } })
    await create(cluster, `/apis/rbac.authorization.k8s.io/v1/namespaces/${second}/rolebindings`, {
      metadata: { name: 'dev-team' },
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
