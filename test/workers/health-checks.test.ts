import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import { ClusterMemory } from '../../workers/apply/cluster-memory.ts'
import { configMap, createTenant, get } from '../cluster/cluster-under-test.ts'
import {
  conditionOf,
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
} from '../cluster/status/flux-world.ts'
import { nodeOf, openWorker, type TestWorker } from '../cluster/status/worker-world.ts'

const WAITING = { ...DEFAULT_SETTINGS, wait: true, retryIntervalMs: 1_000 }
const DEPLOYMENTS = '/apis/apps/v1/namespaces/apps/deployments'

function deployment(name: string): Json {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'registry.example/c:1' }] } }
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace: 'apps' } },
    spec: { selector: { matchLabels: labels }, template },
  }
}

describe('health checks of nodes', () => {
  let world: FluxWorld
  let worker: TestWorker
  const memory = new ClusterMemory({ patienceMs: 50 })
  /** How often a run was asked for. */
  let changes = 0

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    worker = await openWorker(world, memory)
    memory.health.onChange(() => changes++)
    await createTenant(world.cluster, 'apps', 'dev-team')
    for (const name of ['first', 'second', 'sick', 'well']) {
      const spec = { interval: '1h', prune: true, wait: true, sourceRef: { kind: 'GitRepository', name } }
      await put(world.cluster, kustomizations('apps'), {
        ...KUSTOMIZATION,
        metadata: { name, namespace: 'apps' },
        spec,
      })
    }
  }, 120_000)
  afterAll(async () => {
    memory.close()
    worker?.client.close()
    await world?.close()
  })

  const setStatus = async (name: string, status: Json) => {
    const contentType = 'application/merge-patch+json'
    const path = `${DEPLOYMENTS}/${name}/status`
    const answer = await world.cluster.request('PATCH', path, { status }, { contentType })
    expect(answer.status).toBe(200)
  }
  const conditionsOf = async (name: string) => {
    const live = (await get(world.cluster, `${kustomizations('apps')}/${name}`)) ?? null
    return ['Ready', 'Healthy'].map(type => {
      const { status, reason } = (conditionOf(live, type) ?? {}) as { status?: string; reason?: string }
      return status === undefined ? `${type} -` : `${type} ${status} ${reason}`
    })
  }
  const first = nodeOf({ namespace: 'apps', name: 'first' }, [deployment('web')], { settings: WAITING })
  const second = nodeOf({ namespace: 'apps', name: 'second' }, [configMap('apps', 'after')], {
    dependsOn: [first.key],
  })

  test('what depends on a node waits until that is healthy, and nobody else does', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const well = nodeOf({ namespace: 'apps', name: 'well' }, [configMap('apps', 'well')], { settings: WAITING })
    const all = [first, second, well]
    expect(await worker.run(all)).toMatchObject([
      { key: first.key, outcome: 'applied', reason: 'its health checks still run' },
      { key: second.key, outcome: 'held', reason: `its dependency ${first.key} is not ready` },
      { key: well.key, outcome: 'applied' },
    ])
    expect(await conditionsOf('first')).toEqual(['Ready Unknown Progressing', 'Healthy Unknown Progressing'])
    expect(await conditionsOf('well')).toEqual(['Ready True ReconciliationSucceeded', 'Healthy True Succeeded'])
    await setStatus('web', {
      ...{ observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
      conditions: [
        { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' },
        { type: 'Available', status: 'True' },
      ],
    })
    await expect.poll(() => changes, { timeout: 20_000 }).toBe(1)
    expect(await worker.run(all)).toMatchObject([
      { key: first.key, outcome: 'applied' },
      { key: second.key, outcome: 'applied' },
      { key: well.key, outcome: 'applied' },
    ])
    expect(await conditionsOf('first')).toEqual(['Ready True ReconciliationSucceeded', 'Healthy True Succeeded'])
  })

  test('a node that is not healthy has failed, with the reason of its object', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const sick = nodeOf({ namespace: 'apps', name: 'sick' }, [deployment('sick')], { settings: WAITING })
    expect(await worker.run([sick])).toMatchObject([{ outcome: 'applied', reason: 'its health checks still run' }])
    const before = changes
    await setStatus('sick', {
      observedGeneration: 1,
      conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
    })
    await expect.poll(() => changes, { timeout: 20_000 }).toBe(before + 1)
    const reason =
      "failed early due to stalled resources: [Deployment/apps/sick status: 'Failed': Progress deadline exceeded]"
    expect(await worker.run([sick])).toMatchObject([{ outcome: 'failed', reason }])
    expect(await conditionsOf('sick')).toEqual(['Ready False HealthCheckFailed', 'Healthy False HealthCheckFailed'])
  })

  test('another content ends the check of the one before', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const slow = nodeOf({ namespace: 'apps', name: 'second' }, [deployment('slow')], { settings: WAITING })
    expect(await worker.run([slow])).toMatchObject([{ reason: 'its health checks still run' }])
    const before = changes
    const other = nodeOf({ namespace: 'apps', name: 'second' }, [configMap('apps', 'other')], { settings: WAITING })
    const [said] = await worker.run([other])
    expect([said!.outcome, said!.reason]).toEqual(['applied', undefined])
    expect(changes).toBe(before)
  })
})
