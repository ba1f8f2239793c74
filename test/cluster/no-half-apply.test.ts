import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt } from '../../src/cluster/json.ts'
import type { Json } from '../../src/kube/node.ts'
import { configMap, create, get, haveAssets } from './cluster-under-test.ts'
import { CONFIGMAPS, startTenant, type TenantUnderTest } from './tenant-under-test.ts'

const RBAC = 'rbac.authorization.k8s.io'

describe.skipIf(!haveAssets())('no half applies', () => {
  let tenant: TenantUnderTest
  const apply: TenantUnderTest['apply'] = (objects, more) => tenant.apply(objects, more)
  const actions = (objects: Awaited<ReturnType<typeof apply>>) => objects.map(({ id, action }) => [id.name, action])
  const sent = () =>
    tenant.proxy.seen
      .filter(seen => seen.user !== '')
      .map(({ method, query }) => (query.get('dryRun') === 'All' ? `${method} dry` : method))

  beforeAll(async () => {
    tenant = await startTenant()
  })
  afterAll(() => tenant?.stop())
  afterEach(() => {
    tenant.proxy.seen.length = 0
  })

  test('where a policy denies one object, no other of the stage is created or changed', async () => {
    await apply([configMap('apps', 'old'), configMap('apps', 'same')])
    const result = await apply([
      configMap('apps', 'bad', { key: 'denied' }),
      configMap('apps', 'new'),
      configMap('apps', 'old', { key: 'changed' }),
      configMap('apps', 'same'),
    ])
    expect(actions(result)).toEqual([
      ['bad', 'failed'],
      ['new', 'withheld'],
      ['old', 'withheld'],
      ['same', 'unchanged'],
    ])
    expect(result[0]!.message).toMatch(/^ConfigMap\/apps\/bad dry-run failed \(Invalid\): .*no value may be denied/)
    expect(await get(tenant.server, `${CONFIGMAPS}/new`)).toBeUndefined()
    expect(jsonAt(await get(tenant.server, `${CONFIGMAPS}/old`), 'data')).toEqual({ key: 'value' })
    expect(sent().filter(one => one === 'PATCH')).toEqual(['PATCH', 'PATCH'])
  })

  test('a refused object of a later stage leaves only what came before it', async () => {
    const namespace: Json = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'staged' } }
    const objects = [namespace, configMap('staged', 'a'), configMap('staged', 'b', { key: 'denied' })]
    expect(actions(await apply(objects, { user: tenant.platform }))).toEqual([
      ['staged', 'created'],
      ['a', 'withheld'],
      ['b', 'failed'],
    ])
    expect(await get(tenant.server, '/api/v1/namespaces/staged/configmaps/a')).toBeUndefined()
  })

  test('a new object costs a dry run and an apply, an unchanged one is read and tried', async () => {
    const [created] = await apply([configMap('apps', 'counted')])
    expect(sent()).toEqual(['PATCH dry', 'PATCH'])
    tenant.proxy.seen.length = 0
    const known = [created!.entry!]
    expect((await apply([configMap('apps', 'counted')], { known }))[0]).toMatchObject({ action: 'unchanged' })
    expect(sent()).toEqual(['GET', 'PATCH dry'])
    tenant.proxy.seen.length = 0
    expect((await apply([configMap('apps', 'counted', { key: 'x' })], { known }))[0]).toMatchObject({
      action: 'configured',
    })
    expect(sent()).toEqual(['GET', 'PATCH dry', 'PATCH'])
  })

  test('the caller hears of the first write before it, once, and never of an apply without writes', async () => {
    let told = 0
    const beforeWrite = async () => {
      told++
      expect(sent().filter(one => one === 'PATCH')).toEqual([])
    }
    const objects = [configMap('apps', 'told-1'), configMap('apps', 'told-2')]
    await apply(objects, { beforeWrite })
    await apply(objects, { beforeWrite })
    await apply([configMap('apps', 'told-3', { key: 'denied' })], { beforeWrite })
    expect(told).toBe(1)
    const fenced = new Error('fenced')
    const stopped = apply([configMap('apps', 'never')], { beforeWrite: () => Promise.reject(fenced) })
    await expect(stopped).rejects.toBe(fenced)
    expect(await get(tenant.server, `${CONFIGMAPS}/never`)).toBeUndefined()
  })

  test('a changed finalizer or owner is drift', async () => {
    const held = (finalizers: string[]): Json => ({
      ...(configMap('apps', 'held') as object),
      metadata: { name: 'held', namespace: 'apps', finalizers },
    })
    await apply([held([])])
    expect((await apply([held(['acme.example/hold'])]))[0]).toMatchObject({ action: 'configured' })
    expect((await apply([held(['acme.example/hold'])]))[0]).toMatchObject({ action: 'unchanged' })
    expect((await apply([held([])]))[0]).toMatchObject({ action: 'configured' })
  })

  test('a Role and the binding that gives it away come in one apply, by an account that may not bind', async () => {
    await create(tenant.server, '/api/v1/namespaces', { metadata: { name: 'narrow' } })
    await create(tenant.server, `/apis/${RBAC}/v1/namespaces/narrow/roles`, {
      metadata: { name: 'reconciler' },
      rules: [
        { apiGroups: [RBAC], resources: ['roles', 'rolebindings'], verbs: ['get', 'create', 'patch'] },
        { apiGroups: [''], resources: ['configmaps'], verbs: ['*'] },
      ],
    })
    const narrow = 'system:serviceaccount:narrow:dev'
    await create(tenant.server, `/apis/${RBAC}/v1/namespaces/narrow/rolebindings`, {
      metadata: { name: 'reconciler' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'reconciler' },
      subjects: [{ kind: 'ServiceAccount', name: 'dev', namespace: 'narrow' }],
    })
    const role = (verbs: string[]): Json => ({
      apiVersion: `${RBAC}/v1`,
      kind: 'Role',
      metadata: { name: 'reader', namespace: 'narrow' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
    })
    const roleBinding = (name: string): Json => ({
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name, namespace: 'narrow' },
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', apiGroup: RBAC, name: 'dora' }],
    })
    const as = { user: narrow, owner: { namespace: 'narrow', name: 'dev' } }
    const bad = await apply([role(['get']), roleBinding('reader'), configMap('narrow', 'x', { key: 'denied' })], as)
    expect(actions(bad).filter(([, action]) => action === 'created')).toEqual([])
    expect(actions(await apply([role(['get']), roleBinding('reader')], as))).toEqual([
      ['reader', 'created'],
      ['reader', 'created'],
    ])
    // rights that the account does not have stay out, and a Role that nobody brings is said
    const stolen: Json = {
      ...(role(['get']) as object),
      metadata: { name: 'all', namespace: 'narrow' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    }
    expect((await apply([stolen], as))[0]!.message).toContain(
      'is attempting to grant RBAC permissions not currently held',
    )
    const missing: Json = {
      ...(roleBinding('lost') as object),
      roleRef: { apiGroup: RBAC, kind: 'Role', name: 'nowhere' },
    }
    expect((await apply([missing], as))[0]!.message).toContain('"nowhere" not found')
  })

  test('a custom kind that is called as one of the first stage comes after its definition', async () => {
    const objects: Json[] = [
      { apiVersion: 'acme.example/v1', kind: 'Namespace', metadata: { name: 'like', namespace: 'apps' } },
      namespaceDefinition,
    ]
    expect(actions(await apply(objects, { user: tenant.platform }))).toEqual([
      ['namespaces.acme.example', 'created'],
      ['like', 'created'],
    ])
  })
})

const namespaceDefinition: Json = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'namespaces.acme.example' },
  spec: {
    group: 'acme.example',
    scope: 'Namespaced',
    names: { plural: 'namespaces', singular: 'namespace', kind: 'Namespace', listKind: 'NamespaceList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}
