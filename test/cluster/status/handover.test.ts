import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsAt, jsonAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { configMap, create, createPlatformAccount, createTenant, get } from '../cluster-under-test.ts'
import {
  conditionOf,
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
  until,
} from './flux-world.ts'
import { nodeOf, openWorker, type TestWorker } from './worker-world.ts'

const PLATFORM = 'system:serviceaccount:flux-system:kustomize-controller'
const revision = (letter: string) => `main@sha1:${letter.repeat(40)}`
const yaml = (...objects: Json[]) =>
  Object.fromEntries(objects.map((object, index) => [`${index}.yaml`, JSON.stringify(object)]))

describe('a cluster changes hands', () => {
  let world: FluxWorld
  let worker: TestWorker

  const declare = (namespace: string, name: string, more: { readonly [field: string]: Json } = {}) =>
    put(world.cluster, kustomizations(namespace), {
      ...KUSTOMIZATION,
      metadata: { namespace, name },
      spec: {
        interval: '1h',
        retryInterval: '2s',
        prune: true,
        serviceAccountName: 'dev-team',
        sourceRef: { kind: 'GitRepository', name },
        ...more,
      },
    })
  const ready = (namespace: string, name: string, letter: string) =>
    until(
      world.cluster,
      `${kustomizations(namespace)}/${name}`,
      one =>
        one !== undefined &&
        stringAt(conditionOf(one, 'Ready'), 'status') === 'True' &&
        stringAt(one, 'status', 'lastAppliedRevision') === revision(letter) &&
        jsonAt(one, 'status', 'inventory') !== undefined,
    )
  const map = (name: string) => `/api/v1/namespaces/apps/configmaps/${name}`

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    worker = await openWorker(world)
    await createTenant(world.cluster, 'apps', 'dev-team')
    await createPlatformAccount(world.cluster)
    await create(world.cluster, '/api/v1/namespaces/flux-system/serviceaccounts', {
      metadata: { name: 'kustomize-controller' },
    })
  }, 120_000)
  afterAll(async () => {
    worker?.client.close()
    await world?.close()
  })

  test('to the worker: what Flux recorded is pruned when git has it no more, and what carries other labels stays', async ({
    skip,
  }) => {
    if (missing !== undefined) return skip(missing)
    const files = yaml(configMap('apps', 'in-one'), configMap('apps', 'in-two'), configMap('apps', 'in-moved'))
    await world.artifacts.put({ namespace: 'apps', name: 'in' }, revision('a'), files)
    await declare('apps', 'in')
    await world.startController()
    await ready('apps', 'in', 'a')
    await world.stopController()
    await put(world.cluster, '/api/v1/namespaces/apps/configmaps', {
      metadata: { name: 'in-moved', labels: { 'kustomize.toolkit.fluxcd.io/name': 'another' } },
    })
    const [node] = await worker.run([nodeOf({ namespace: 'apps', name: 'in' }, [configMap('apps', 'in-two')])])
    expect(node).toMatchObject({ outcome: 'applied' })
    expect(await get(world.cluster, map('in-one'))).toBeUndefined()
    expect(await get(world.cluster, map('in-moved'))).toBeDefined()
    const live = await get(world.cluster, `${kustomizations('apps')}/in`)
    expect(live).toMatchObject({
      metadata: { finalizers: ['finalizers.fluxcd.io'] },
      status: { inventory: { entries: [{ id: 'apps_in-two__ConfigMap', v: 'v1' }] } },
    })
  })

  test('to the worker: a tenant that leaves takes everything along, and its Kustomization is let go', async ({
    skip,
  }) => {
    if (missing !== undefined) return skip(missing)
    const child = { ...KUSTOMIZATION, metadata: { namespace: 'apps', name: 'leaving' } }
    const spec = {
      interval: '1h',
      prune: true,
      serviceAccountName: 'dev-team',
      sourceRef: { kind: 'GitRepository', name: 'leaving' },
    }
    await world.artifacts.put({ namespace: 'flux-system', name: 'tenants' }, revision('a'), yaml({ ...child, spec }))
    await world.artifacts.put({ namespace: 'apps', name: 'leaving' }, revision('a'), yaml(configMap('apps', 'left')))
    await declare('flux-system', 'tenants', { serviceAccountName: 'kustomize-controller' })
    await world.startController()
    await ready('apps', 'leaving', 'a')
    await world.stopController()
    const platform = { user: PLATFORM, tenant: null }
    const tenants = (objects: readonly Json[]) =>
      nodeOf({ namespace: 'flux-system', name: 'tenants' }, objects, platform)
    await worker.run([tenants([])])
    expect(await get(world.cluster, `${kustomizations('apps')}/leaving`)).toBeUndefined()
    expect(await get(world.cluster, map('left'))).toBeUndefined()
  })

  test('back to Flux: it changes nothing, and afterwards removes what git has no more', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const two = (data: Record<string, string>) => configMap('apps', 'back-two', data)
    await declare('apps', 'back')
    const objects = [configMap('apps', 'back-one'), two({ kept: 'a', gone: 'b' })]
    await worker.run([nodeOf({ namespace: 'apps', name: 'back' }, objects)])
    const before = await Promise.all(['back-one', 'back-two'].map(name => get(world.cluster, map(name))))
    await world.artifacts.put({ namespace: 'apps', name: 'back' }, revision('b'), yaml(...objects))
    await world.startController()
    await ready('apps', 'back', 'b')
    const after = await Promise.all(['back-one', 'back-two'].map(name => get(world.cluster, map(name))))
    expect(after).toEqual(before)
    await world.artifacts.put({ namespace: 'apps', name: 'back' }, revision('c'), yaml(two({ kept: 'a' })))
    await ready('apps', 'back', 'c')
    await world.stopController()
    expect(await get(world.cluster, map('back-one'))).toBeUndefined()
    const left = await get(world.cluster, map('back-two'))
    expect(jsonAt(left, 'data')).toEqual({ kept: 'a' })
    expect(itemsAt(left, 'metadata', 'managedFields').map(entry => stringAt(entry, 'manager'))).toEqual([
      'kustomize-controller',
    ])
  })
})
