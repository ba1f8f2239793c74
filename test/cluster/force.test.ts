import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAt, stringAt } from '../../src/cluster/json.ts'
import type { ApplyRequest } from '../../src/cluster/prepare-object.ts'
import type { Json } from '../../src/kube/node.ts'
import { configMap, create, get, haveAssets } from './cluster-under-test.ts'
import { CONFIGMAPS, startTenant, type TenantUnderTest } from './tenant-under-test.ts'

const RBAC = 'rbac.authorization.k8s.io'

describe.skipIf(!haveAssets())('force', () => {
  let tenant: TenantUnderTest
  const apply: TenantUnderTest['apply'] = (objects, more) => tenant.apply(objects, more)
  const actions = (objects: Awaited<ReturnType<typeof apply>>) => objects.map(({ id, action }) => [id.name, action])

  beforeAll(async () => {
    tenant = await startTenant()
  })
  afterAll(() => tenant?.stop())

  const frozen = (name: string, value: string, more: { [key: string]: Json } = {}): Json => ({
    ...(configMap('apps', name, { key: value }) as object),
    metadata: { name, namespace: 'apps', ...more },
    immutable: true,
  })
  const uidOf = async (path: string) => stringAt(await get(tenant.server, path), 'metadata', 'uid')

  test.each<[string, Partial<ApplyRequest>, { [key: string]: Json }]>([
    ['spec.force', { force: true }, {}],
    ['the annotation', {}, { annotations: { 'kustomize.toolkit.fluxcd.io/force': 'Enabled' } }],
    ['the label', {}, { labels: { 'kustomize.toolkit.fluxcd.io/force': 'enabled' } }],
  ])('%s deletes and creates again what cannot be changed', async (what, more, metadata) => {
    const name = `frozen-${what.length}`
    await apply([frozen(name, 'a')])
    const before = await uidOf(`${CONFIGMAPS}/${name}`)
    const [refused] = await apply([frozen(name, 'b')])
    expect(refused).toMatchObject({ action: 'failed', code: 'cluster-invalid' })
    expect(refused!.message).toContain('field is immutable when `immutable` is set')
    const [forced] = await apply([frozen(name, 'b', metadata)], more)
    expect(forced).toMatchObject({
      action: 'recreated',
      message: expect.stringContaining('deleted and created again'),
    })
    const live = await get(tenant.server, `${CONFIGMAPS}/${name}`)
    expect(jsonAt(live, 'data')).toEqual({ key: 'b' })
    expect(stringAt(live, 'metadata', 'uid')).not.toBe(before)
    expect(forced!.entry!.uid).toBe(stringAt(live, 'metadata', 'uid'))
    expect((await apply([frozen(name, 'b', metadata)], more))[0]).toMatchObject({ action: 'unchanged' })
  })

  test('the annotation on the live object counts as well', async () => {
    await apply([frozen('frozen-live', 'a')])
    const annotations = { 'kustomize.toolkit.fluxcd.io/force': 'enabled' }
    const options = { contentType: 'application/merge-patch+json' }
    await tenant.server.request('PATCH', `${CONFIGMAPS}/frozen-live`, { metadata: { annotations } }, options)
    expect((await apply([frozen('frozen-live', 'b')]))[0]).toMatchObject({ action: 'recreated' })
    expect((await apply([frozen('frozen-live', 'c')], { switches: ['ssa'] }))[0]).toMatchObject({ action: 'failed' })
  })

  test('a roleRef, the selector of a Deployment and a Service with a fixed address', async () => {
    const roleBinding = (name: string): Json => ({
      apiVersion: `${RBAC}/v1`,
      kind: 'RoleBinding',
      metadata: { name: 'bound', namespace: 'apps' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', apiGroup: RBAC, name: 'dora' }],
    })
    const deployment = (app: string): Json => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'apps' },
      spec: {
        selector: { matchLabels: { app } },
        template: { metadata: { labels: { app } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
      },
    })
    const service = (clusterIP: string, port: number): Json => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'apps' },
      spec: { type: 'NodePort', clusterIP, selector: { app: 'web' }, ports: [{ port, nodePort: 30080 }] },
    })
    expect(actions(await apply([roleBinding('view'), deployment('a'), service('10.0.0.77', 80)]))).toEqual([
      ['bound', 'created'],
      ['web', 'created'],
      ['web', 'created'],
    ])
    const changed = [roleBinding('edit'), deployment('b'), service('10.0.0.78', 80)]
    expect((await apply(changed)).map(({ action }) => action)).toEqual(['failed', 'failed', 'failed'])
    const forced = await apply(changed, { force: true })
    expect(forced.map(({ action }) => action)).toEqual(['recreated', 'recreated', 'recreated'])
    expect(stringAt(await get(tenant.server, '/api/v1/namespaces/apps/services/web'), 'spec', 'clusterIP')).toBe(
      '10.0.0.78',
    )
  })

  test.each<[string, Json]>([
    ['invalid in itself', { apiVersion: 'v1', kind: 'ConfigMap', data: { 'not/a/key': 'x' } }],
    ['denied by a policy', { apiVersion: 'v1', kind: 'ConfigMap', data: { key: 'denied' } }],
  ])('an object that is %s is not deleted for it', async (_what, wrong) => {
    await apply([configMap('apps', 'kept')])
    const before = await uidOf(`${CONFIGMAPS}/kept`)
    const object = { ...(wrong as object), metadata: { name: 'kept', namespace: 'apps' } }
    const [result] = await apply([object], { force: true })
    expect(result!.message).toContain('It is not deleted for `force`, because creating it again would be refused too')
    expect(await uidOf(`${CONFIGMAPS}/kept`)).toBe(before)
  })

  test('nothing is deleted where another object is refused', async () => {
    await apply([frozen('not-yet', 'a')])
    const before = await uidOf(`${CONFIGMAPS}/not-yet`)
    const objects = [frozen('not-yet', 'b'), configMap('apps', 'refused', { key: 'denied' })]
    expect(actions(await apply(objects, { force: true }))).toEqual([
      ['not-yet', 'withheld'],
      ['refused', 'failed'],
    ])
    expect(await uidOf(`${CONFIGMAPS}/not-yet`)).toBe(before)
  })

  test("what is somebody else's is never deleted for it", async () => {
    const path = `${CONFIGMAPS}/platforms`
    await create(tenant.server, CONFIGMAPS, { metadata: { name: 'platforms' }, data: { key: 'a' }, immutable: true })
    const before = await uidOf(path)
    const annotated = frozen('platforms', 'b', { annotations: { 'kustomize.toolkit.fluxcd.io/force': 'enabled' } })
    expect((await apply([annotated], { force: true }))[0]).toMatchObject({ action: 'failed' })
    const other = { namespace: 'apps', name: 'another' }
    await apply([frozen('anothers', 'a')], { owner: other })
    const [foreign] = await apply([frozen('anothers', 'b')], { force: true })
    expect(foreign).toMatchObject({ action: 'failed', code: 'cluster-conflict' })
    expect(await uidOf(path)).toBe(before)
    // the platform may
    expect((await apply([annotated], { user: tenant.platform, adopt: true }))[0]).toMatchObject({ action: 'recreated' })
  })

  test('an object that is exchanged meanwhile is not the one to delete; one that stays is said', async () => {
    await apply([frozen('swapped', 'a')])
    const swap = async () => {
      await tenant.server.request('DELETE', `${CONFIGMAPS}/swapped`)
      await create(tenant.server, CONFIGMAPS, { metadata: { name: 'swapped' }, data: { key: 'theirs' } })
    }
    const [result] = await apply([frozen('swapped', 'b')], { force: true, beforeWrite: swap })
    expect(result).toMatchObject({ action: 'failed', code: 'cluster-conflict' })
    expect(jsonAt(await get(tenant.server, `${CONFIGMAPS}/swapped`), 'data')).toEqual({ key: 'theirs' })

    const held = (value: string) => frozen('stays', value, { finalizers: ['acme.example/hold'] })
    await apply([held('a')])
    const [stays] = await apply([held('b')], { force: true, stageWaitMs: 300 })
    expect(stays!.message).toContain('is deleted for `force`, but does not go away')
  })
})
