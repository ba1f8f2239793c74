import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Json } from '../../../src/kube/node.ts'
import { configMap, create, createPlatformAccount, createTenant, get } from '../cluster-under-test.ts'
import { type FluxWorld, KUSTOMIZATION, kustomizations, missing, openFluxWorld, put } from './flux-world.ts'
import { nodeOf, openWorker, type TestWorker } from './worker-world.ts'

const PLATFORM = 'system:serviceaccount:flux-system:kustomize-controller'
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/namespaces'

describe('a Kustomization ends, and the account that applied it', () => {
  let world: FluxWorld
  let worker: TestWorker
  let tenant = ''
  let count = 0

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    worker = await openWorker(world)
    await createPlatformAccount(world.cluster)
  }, 120_000)
  afterAll(async () => {
    worker?.client.close()
    await world?.close()
  })
  beforeEach(async () => {
    if (missing !== undefined) return
    tenant = `tenant-${++count}`
    await createTenant(world.cluster, tenant, 'dev-team')
  })

  const remove = (path: string) => world.cluster.request('DELETE', path)
  const removeAccount = () => remove(`/api/v1/namespaces/${tenant}/serviceaccounts/dev-team`)
  const removeRights = () => remove(`${BINDINGS}/${tenant}/rolebindings/dev-team-reconciler`)
  const kustomization = () => get(world.cluster, `${kustomizations(tenant)}/app`)
  const map = () => get(world.cluster, `/api/v1/namespaces/${tenant}/configmaps/a`)

  function declared(): Json {
    const sourceRef = { kind: 'GitRepository', name: 'app' }
    const spec = { interval: '1h', prune: true, serviceAccountName: 'dev-team', sourceRef }
    return { ...KUSTOMIZATION, metadata: { namespace: tenant, name: 'app' }, spec }
  }
  /** The platform's Kustomization that declares the tenant's; `children`: as git has it now. */
  const parent = (children: readonly Json[]) =>
    nodeOf({ namespace: 'flux-system', name: `tenants-${tenant}` }, children, { user: PLATFORM, tenant: null })
  const child = () => nodeOf({ namespace: tenant, name: 'app' }, [configMap(tenant, 'a')], { parent: parent([]).key })
  async function applied(): Promise<void> {
    const results = await worker.run([parent([declared()]), child()])
    expect(results.map(({ outcome }) => outcome)).toEqual(['applied', 'applied'])
    // made in this very run, and shown and owned in it
    expect(await kustomization()).toMatchObject({
      metadata: { finalizers: ['finalizers.fluxcd.io'] },
      status: { lastAppliedRevision: expect.any(String) },
    })
  }
  /** What became of it one run after git has it no more, and after one more. */
  async function left(): Promise<void> {
    await worker.run([parent([])])
    await worker.run([parent([])])
  }

  test('gone with its rights: objects stay, an event names them, and nothing hangs', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await applied()
    await removeAccount()
    await removeRights()
    await left()
    expect(await kustomization()).toBeUndefined()
    expect(await map()).toBeDefined()
    const { body } = await world.cluster.request('GET', `/api/v1/namespaces/${tenant}/events`)
    expect(JSON.stringify(body)).toContain(`unable to prune objects: \\nConfigMap/${tenant}/a`)
  })

  test('gone before it was deleted by hand, and git has it no more', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await applied()
    await removeAccount()
    await removeRights()
    await remove(`${kustomizations(tenant)}/app`)
    await left()
    expect(await kustomization()).toBeUndefined()
    expect(await map()).toBeDefined()
  })

  test('gone while kustomize-controller had it: as if we had applied it', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    const finalizers = ['finalizers.fluxcd.io']
    await worker.run([parent([declared()])])
    await put(world.cluster, kustomizations(tenant), { ...KUSTOMIZATION, metadata: { name: 'app', finalizers } })
    const labels = { 'kustomize.toolkit.fluxcd.io/name': 'app', 'kustomize.toolkit.fluxcd.io/namespace': tenant }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', labels }, data: { key: 'value' } }
    await put(world.cluster, `/api/v1/namespaces/${tenant}/configmaps`, object)
    const status = { inventory: { entries: [{ id: `${tenant}_a__ConfigMap`, v: 'v1' }] } }
    const contentType = 'application/merge-patch+json'
    await world.cluster.request('PATCH', `${kustomizations(tenant)}/app/status`, { status }, { contentType })
    await removeAccount()
    await removeRights()
    await left()
    expect(await kustomization()).toBeUndefined()
    expect(await map()).toBeDefined()
  })

  test('gone, and its rights are still there: objects go, too', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await applied()
    await removeAccount()
    await left()
    expect(await kustomization()).toBeUndefined()
    expect(await map()).toBeUndefined()
  })

  test('there, and without rights: it waits, and ends when the rights are back', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await applied()
    await removeRights()
    await left()
    expect(await kustomization()).toBeDefined()
    expect(await map()).toBeDefined()
    await create(world.cluster, `${BINDINGS}/${tenant}/rolebindings`, {
      metadata: { name: 'dev-team-reconciler' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name: 'dev-team', namespace: tenant }],
    })
    const ended = async () => {
      await left()
      return kustomization()
    }
    await expect.poll(ended, { timeout: 10_000 }).toBeUndefined()
    expect(await map()).toBeUndefined()
  })
})
