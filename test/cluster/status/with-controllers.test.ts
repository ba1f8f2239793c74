import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findAssets, NO_CONTROLLERS } from '../../../tools/envtest/assets.ts'
import { configMap, create, createPlatformAccount, get } from '../cluster-under-test.ts'
import {
  conditionOf,
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing as missingFlux,
  openFluxWorld,
  put,
  until,
} from './flux-world.ts'
import { nodeOf, openWorker, type TestWorker } from './worker-world.ts'

const missing = missingFlux ?? (findAssets()?.controllerManager ? undefined : NO_CONTROLLERS)
const CONTROLLERS = [
  'namespace-controller',
  'garbage-collector-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'root-ca-certificate-publisher-controller',
]
const PLATFORM = { user: 'system:serviceaccount:flux-system:kustomize-controller', tenant: null }
const RBAC = 'rbac.authorization.k8s.io'
const SECONDS = 40

describe('with the controllers of Kubernetes', () => {
  let world: FluxWorld
  let worker: TestWorker

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld({ controllers: CONTROLLERS })
    worker = await openWorker(world)
    await createPlatformAccount(world.cluster)
    await create(world.cluster, '/api/v1/namespaces/flux-system/serviceaccounts', {
      metadata: { name: 'kustomize-controller' },
    })
  }, 120_000)
  afterAll(async () => {
    worker?.client.close()
    await world?.close()
  })

  const namespace = (name: string) => get(world.cluster, `/api/v1/namespaces/${name}`)
  /** A tenant as the platform declares it, everything in its own namespace. */
  const tenant = (name: string): Json[] => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'dev-team', namespace: name } },
    {
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'dev-team', namespace: name },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'dev-team', namespace: name }],
    },
    {
      ...KUSTOMIZATION,
      metadata: { name: 'app', namespace: name },
      spec: {
        ...{ interval: '1h', retryInterval: '1s', prune: true, serviceAccountName: 'dev-team' },
        sourceRef: { kind: 'GitRepository', name: 'app' },
      },
    },
  ]
  const platform = (name: string, objects: readonly Json[]) =>
    nodeOf({ namespace: 'flux-system', name: `of-${name}` }, objects, PLATFORM)
  const app = (name: string, ...objects: Json[]) =>
    nodeOf({ namespace: name, name: 'app' }, objects, { parent: platform(name, []).key })
  const both = (name: string) => [platform(name, tenant(name)), app(name, configMap(name, 'a'))]

  /** Runs until that holds: what controllers do takes its time. */
  async function runs(nodes: Parameters<TestWorker['run']>[0], isDone: () => Promise<boolean>): Promise<void> {
    for (const start = Date.now(); Date.now() - start < SECONDS * 1000; ) {
      const said = await worker.run(nodes)
      if (await isDone()) return
      if (Date.now() - start > (SECONDS - 1) * 1000) throw new Error(JSON.stringify(said))
      await new Promise(resolve => setTimeout(resolve, 250))
    }
    throw new Error(`it did not happen in ${SECONDS} s`)
  }
  const isGone = (name: string) => async () => (await namespace(name)) === undefined
  const isReady = (name: string) => async () => {
    const live = await get(world.cluster, `${kustomizations(name)}/app`)
    const ready = live === undefined ? undefined : conditionOf(live, 'Ready')
    return stringAt(ready ?? null, 'status') === 'True' && jsonAt(live, 'metadata', 'deletionTimestamp') === undefined
  }

  test('a tenant that leaves git takes its Namespace along', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await runs(both('leaving'), isReady('leaving'))
    await runs([platform('leaving', [])], isGone('leaving'))
  })

  test('a tenant that kustomize-controller applied, and that leaves after the worker took over', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const name = 'taken'
    const files = (...objects: Json[]) =>
      Object.fromEntries(objects.map((one, at) => [`${at}.yaml`, JSON.stringify(one)]))
    const source = { kind: 'GitRepository', name: 'of-taken' }
    const revision = `main@sha1:${'a'.repeat(40)}`
    await world.artifacts.put({ namespace: 'flux-system', name: 'of-taken' }, revision, files(...tenant(name)))
    await put(world.cluster, kustomizations('flux-system'), {
      ...KUSTOMIZATION,
      metadata: { name: 'of-taken', namespace: 'flux-system' },
      spec: { interval: '1h', prune: true, serviceAccountName: 'kustomize-controller', sourceRef: source },
    })
    await world.startController()
    await until(world.cluster, `${kustomizations(name)}/app`, live => live !== undefined)
    await world.artifacts.put({ namespace: name, name: 'app' }, revision, files(configMap(name, 'a')))
    const config = `/api/v1/namespaces/${name}/configmaps/a`
    await until(world.cluster, config, live => live !== undefined)
    await expect.poll(isReady(name), { timeout: 20_000 }).toBe(true)
    await world.stopController()
    await runs([platform(name, [])], isGone(name))
  })

  test('a Namespace that somebody deletes is not stuck, and comes back as git has it', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const name = 'deleted'
    await runs(both(name), isReady(name))
    const before = stringAt((await namespace(name)) ?? null, 'metadata', 'uid')
    await world.cluster.request('DELETE', `/api/v1/namespaces/${name}`)
    const isNew = async () => {
      const live = await namespace(name)
      return live !== undefined && stringAt(live, 'metadata', 'uid') !== before && (await isReady(name)())
    }
    await runs(both(name), isNew)
    expect(await get(world.cluster, `/api/v1/namespaces/${name}/configmaps/a`)).toBeDefined()
  })

  test('a Namespace that somebody deletes while its tenant leaves git', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const name = 'at-once'
    await runs(both(name), isReady(name))
    await world.cluster.request('DELETE', `/api/v1/namespaces/${name}`)
    // its account is among the first that go
    await until(world.cluster, `/api/v1/namespaces/${name}/serviceaccounts/dev-team`, live => live === undefined)
    await runs([platform(name, [])], isGone(name))
  })

  test('what an object owns goes with it, and its Kustomization does not wait for that', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const name = 'owner'
    await runs(both(name), isReady(name))
    const owner = (await get(world.cluster, `/api/v1/namespaces/${name}/configmaps/a`))!
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: stringAt(owner, 'metadata', 'uid') },
    ]
    const owned = { metadata: { name: 'owned', ownerReferences } }
    await create(world.cluster, `/api/v1/namespaces/${name}/configmaps`, owned)
    await worker.run([platform(name, tenant(name)), app(name, configMap(name, 'b'))])
    expect(await get(world.cluster, `/api/v1/namespaces/${name}/configmaps/a`)).toBeUndefined()
    await until(world.cluster, `/api/v1/namespaces/${name}/configmaps/owned`, live => live === undefined)
    expect(await get(world.cluster, `/api/v1/namespaces/${name}/configmaps/b`)).toBeDefined()
  })

  test('a token Secret that a controller fills is no drift', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const name = 'tokens'
    const annotations = { 'kubernetes.io/service-account.name': 'robot' }
    const objects: Json[] = [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: name } },
      {
        ...{ apiVersion: 'v1', kind: 'Secret', type: 'kubernetes.io/service-account-token' },
        metadata: { name: 'robot', namespace: name, annotations },
      },
    ]
    const nodes = [platform(name, tenant(name)), app(name, ...objects)]
    await runs(nodes, isReady(name))
    const path = `/api/v1/namespaces/${name}/secrets/robot`
    const filled = await until(world.cluster, path, live => jsonAt(live, 'data', 'token') !== undefined)
    const [, said] = await worker.run(nodes)
    expect(said).toMatchObject({ outcome: 'applied', objects: [{ action: 'unchanged' }, { action: 'unchanged' }] })
    expect(await get(world.cluster, path)).toEqual(filled)
  })
})
