import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_SETTINGS, type DeletionPolicy } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import { configMap, createTenant, get } from '../cluster/cluster-under-test.ts'
import {
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
} from '../cluster/status/flux-world.ts'
import { nodeOf, openWorker, type TestWorker } from '../cluster/status/worker-world.ts'

const MAPS = '/api/v1/namespaces/apps/configmaps'
const INVENTORIES = '/api/v1/namespaces/bailiwick-system/configmaps'

describe('a Kustomization that is removed', () => {
  let world: FluxWorld
  let worker: TestWorker

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    worker = await openWorker(world)
    await createTenant(world.cluster, 'apps', 'dev-team')
  }, 120_000)
  afterAll(async () => {
    worker?.client.close()
    await world?.close()
  })

  const root = nodeOf({ namespace: 'apps', name: 'root' }, [])
  const child = (
    name: string,
    deletionPolicy: DeletionPolicy,
    prune: boolean,
    object: Json = configMap('apps', name),
  ) =>
    nodeOf({ namespace: 'apps', name }, [object], {
      parent: root.key,
      prune,
      settings: { ...DEFAULT_SETTINGS, deletionPolicy },
      applyDigest: `${name} ${deletionPolicy} ${prune}`,
    })
  const declare = (name: string, suspend: boolean) =>
    put(world.cluster, kustomizations('apps'), {
      ...KUSTOMIZATION,
      metadata: { name, namespace: 'apps' },
      spec: { interval: '1h', prune: true, suspend, sourceRef: { kind: 'GitRepository', name } },
    })
  const isThere = async (name: string) => (await get(world.cluster, `${MAPS}/${name}`)) !== undefined
  const inventories = async () =>
    JSON.stringify(((await get(world.cluster, INVENTORIES)) as { items: { metadata: unknown }[] }).items)

  test.each<[DeletionPolicy, boolean, boolean]>([
    ['MirrorPrune', true, false],
    ['MirrorPrune', false, true],
    ['Delete', true, false],
    ['Delete', false, false],
    ['WaitForTermination', true, false],
    ['WaitForTermination', false, false],
    ['Orphan', true, true],
    ['Orphan', false, true],
  ])('%s with prune %s: what it has stays: %s', async (policy, prune, stays) => {
    if (missing !== undefined) return
    const name = `${policy.toLowerCase()}-${prune}`
    const node = child(name, policy, prune)
    expect(await worker.run([root, node])).toMatchObject([{ outcome: 'applied' }, { outcome: 'applied' }])
    expect(await isThere(name)).toBe(true)
    await worker.run([root])
    expect(await isThere(name)).toBe(stays)
    expect(await inventories()).not.toContain(name)
  })

  test('a policy that is changed counts as it was applied last', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await worker.run([root, child('kept', 'Delete', true)])
    await worker.run([root, child('kept', 'Orphan', true)])
    await worker.run([root])
    expect(await isThere('kept')).toBe(true)
  })

  test('one that is suspended on the cluster leaves everything, and another does not', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    for (const [name, suspend] of [
      ['sleeps', true],
      ['wakes', false],
    ] as const) {
      await worker.run([root, child(name, 'Delete', true)])
      expect(await isThere(name)).toBe(true)
      await declare(name, suspend)
      await worker.run([root])
      expect(await isThere(name)).toBe(suspend)
    }
  })

  test('what its live Kustomization says last counts where that keeps the objects', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await declare('saved', false)
    await worker.run([root, child('saved', 'Delete', true)])
    const path = `${kustomizations('apps')}/saved`
    const contentType = 'application/merge-patch+json'
    await world.cluster.request('PATCH', path, { spec: { deletionPolicy: 'Orphan' } }, { contentType })
    await worker.run([root])
    expect(await isThere('saved')).toBe(true)
  })

  test('WaitForTermination waits for finalizers, and ends with them', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const object: Json = {
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'slow', namespace: 'apps', finalizers: ['example.com/wait'] },
    }
    await worker.run([root, child('slow', 'WaitForTermination', true, object)])
    const waiting = 'it is being deleted, and deletionPolicy WaitForTermination waits'
    expect((await worker.run([root]))[1]).toMatchObject({ objects: [{ action: 'refused', message: waiting }] })
    expect(await inventories()).toContain('slow')
    const contentType = 'application/merge-patch+json'
    await world.cluster.request('PATCH', `${MAPS}/slow`, { metadata: { finalizers: null } }, { contentType })
    expect((await worker.run([root]))[1]).toMatchObject({ objects: [{ action: 'pruned' }] })
    expect(await inventories()).not.toContain('slow')
  }, 60_000)
})
