import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import { jsonAt, parseExact, stringAt } from '../../src/cluster/json.ts'
import type { ApplyRequest } from '../../src/cluster/prepare-object.ts'
import type { Json } from '../../src/kube/node.ts'
import {
  type ClusterUnderTest,
  configMap,
  create,
  createPlatformAccount,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'

const owner = { namespace: 'apps', name: 'dev-team' }
const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'

describe.skipIf(!haveAssets())('applyObjects on a real API server', () => {
  let cluster: ClusterUnderTest
  let user: string
  let platform: string
  const apply = (objects: Json[], more: Partial<ApplyRequest> = {}) =>
    applyObjects(cluster.client, { user, owner, objects, ...more })
  const applyOne = async (object: Json, more: Partial<ApplyRequest> = {}) => (await apply([object], more)).objects[0]!

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
    platform = await createPlatformAccount(cluster.server)
    await create(cluster.server, '/api/v1/namespaces', { metadata: { name: 'other' } })
  })
  afterAll(() => cluster?.stop())

  test('creates with owner labels and field manager, then finds nothing to do', async () => {
    expect((await applyOne(configMap('apps', 'first'))).action).toBe('created')
    const live = await get(cluster.server, `${CONFIGMAPS}/first`)
    expect(jsonAt(live, 'metadata', 'labels')).toEqual({
      'kustomize.toolkit.fluxcd.io/name': 'dev-team',
      'kustomize.toolkit.fluxcd.io/namespace': 'apps',
    })
    expect(jsonAt(live, 'metadata', 'managedFields')).toMatchObject([
      { manager: 'kustomize-controller', operation: 'Apply' },
    ])
    expect((await applyOne(configMap('apps', 'first'))).action).toBe('unchanged')
    expect((await applyOne(configMap('apps', 'first', { key: 'new' }))).action).toBe('configured')
  })

  test('what the account may not do is refused with the message of the API server, and nothing else is applied', async () => {
    const result = await apply([configMap('other', 'stolen'), configMap('apps', 'good'), configMap('apps', 'fine')])
    expect(result.objects.map(({ id, action }) => [id.namespace, id.name, action])).toEqual([
      ['apps', 'fine', 'withheld'],
      ['apps', 'good', 'withheld'],
      ['other', 'stolen', 'failed'],
    ])
    expect(result.failed).toBe(1)
    expect(result.objects[2]).toMatchObject({ code: 'cluster-forbidden' })
    expect(result.objects[2]!.message).toBe(
      `ConfigMap/other/stolen dry-run failed (Forbidden): configmaps "stolen" is forbidden: User "${user}" cannot patch resource "configmaps" in API group "" in the namespace "other"`,
    )
    expect(result.objects[0]!.message).toBe('not applied, because other objects of this Kustomization were refused')
    expect(await get(cluster.server, `${CONFIGMAPS}/good`)).toBeUndefined()
    expect(await get(cluster.server, '/api/v1/namespaces/other/configmaps/stolen')).toBeUndefined()
  })

  test('a definition, an object of its kind and a namespace with its content come in one apply', async () => {
    const objects: Json[] = [
      { apiVersion: 'acme.example/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'fresh' }, size: 3 },
      configMap('fresh', 'inside'),
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } },
      widgetDefinition,
    ]
    const result = await apply(objects, { user: platform, owner: { namespace: 'flux-system', name: 'infra' } })
    expect(result.objects.map(({ id, action, message }) => [id.kind, action, message])).toEqual([
      ['CustomResourceDefinition', 'created', undefined],
      ['Namespace', 'created', undefined],
      ['ConfigMap', 'created', undefined],
      ['Widget', 'created', undefined],
    ])
  })

  test('a live change by a person is put back, and what the person added by kubectl goes away', async () => {
    await applyOne(configMap('apps', 'drift', { key: 'git', other: 'git' }))
    const edit = { data: { key: 'person', other: null, extra: 'person' } }
    await cluster.server.request('PATCH', `${CONFIGMAPS}/drift?fieldManager=kubectl-edit`, edit, {
      contentType: 'application/merge-patch+json',
    })
    expect((await applyOne(configMap('apps', 'drift', { key: 'git', other: 'git' }))).action).toBe('configured')
    expect(jsonAt(await get(cluster.server, `${CONFIGMAPS}/drift`), 'data')).toEqual({ key: 'git', other: 'git' })
  })

  test('what kustomize-controller left is ours, its removed fields included', async () => {
    const left = {
      ...(configMap('apps', 'left', { key: 'flux', gone: 'flux' }) as { [key: string]: Json }),
      metadata: {
        name: 'left',
        namespace: 'apps',
        labels: { 'kustomize.toolkit.fluxcd.io/name': 'dev-team', 'kustomize.toolkit.fluxcd.io/namespace': 'apps' },
      },
    }
    await cluster.server.request('PATCH', `${CONFIGMAPS}/left?fieldManager=kustomize-controller&force=true`, left, {
      contentType: 'application/apply-patch+yaml',
    })
    expect((await applyOne(configMap('apps', 'left', { key: 'flux' }))).action).toBe('configured')
    expect(jsonAt(await get(cluster.server, `${CONFIGMAPS}/left`), 'data')).toEqual({ key: 'flux' })
  })

  test("another Kustomization's object is refused and not named where it is another namespace's", async () => {
    await applyOne(configMap('apps', 'theirs'), { user: platform, owner: { namespace: 'secret-team', name: 'x' } })
    const result = await applyOne(configMap('apps', 'theirs', { key: 'mine' }))
    expect(result).toMatchObject({ action: 'failed', code: 'cluster-conflict' })
    expect(result.message).toContain('ConfigMap apps/theirs belongs to a Kustomization of another namespace')
    expect(result.message).not.toContain('secret-team')
    expect(jsonAt(await get(cluster.server, `${CONFIGMAPS}/theirs`), 'data')).toEqual({ key: 'value' })
  })

  test("the platform's fields cannot be stolen, not in two steps either, unless adoption is allowed", async () => {
    const path = '/api/v1/namespaces/apps/resourcequotas/limit'
    const quota = (pods: string, labels: { [key: string]: string } = {}): Json => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'limit', namespace: 'apps', labels },
      spec: { hard: { pods } },
    })
    await create(cluster.server, '/api/v1/namespaces/apps/resourcequotas', quota('10'))
    const direct = await applyOne(quota('90'))
    expect(direct).toMatchObject({ action: 'failed', code: 'cluster-conflict' })
    expect(direct.message).toContain('.spec.hard.pods (conflict with')
    expect(direct.message).toContain('bailiwick.dev/adopt: apps/dev-team')

    const beside = await applyOne(quota('10', { harmless: 'yes' }))
    expect(beside.action).toBe('configured')
    expect(beside.message).toContain('existed before')
    expect(beside.entry).not.toHaveProperty('uid')
    expect(jsonAt(await get(cluster.server, path), 'metadata', 'labels')).toEqual({ harmless: 'yes' })
    expect((await applyOne(quota('90'))).action).toBe('failed')
    expect(jsonAt(await get(cluster.server, path), 'spec', 'hard', 'pods')).toBe('10')

    await cluster.server.request(
      'PATCH',
      path,
      { metadata: { annotations: { 'bailiwick.dev/adopt': 'apps/dev-team' } } },
      { contentType: 'application/merge-patch+json' },
    )
    expect((await applyOne(quota('90'))).action).toBe('configured')
    expect(jsonAt(await get(cluster.server, path), 'spec', 'hard', 'pods')).toBe('90')
  })

  test('the platform may adopt whatever is there', async () => {
    await create(cluster.server, CONFIGMAPS, { metadata: { name: 'by-hand' }, data: { key: 'hand' } })
    const adopted = await applyOne(configMap('apps', 'by-hand'), { user: platform, adopt: true })
    expect(adopted.action).toBe('configured')
    const live = await get(cluster.server, `${CONFIGMAPS}/by-hand`)
    expect(jsonAt(live, 'data')).toEqual({ key: 'value' })
    expect(stringAt(live, 'metadata', 'labels', 'kustomize.toolkit.fluxcd.io/name')).toBe('dev-team')
  })

  test('an object whose owner labels somebody removed stays ours by its uid in the inventory', async () => {
    const { entry } = await applyOne(configMap('apps', 'unlabelled'))
    await cluster.server.request(
      'PATCH',
      `${CONFIGMAPS}/unlabelled?fieldManager=kubectl-edit`,
      { metadata: { labels: null }, data: { key: 'person' } },
      { contentType: 'application/merge-patch+json' },
    )
    expect((await applyOne(configMap('apps', 'unlabelled'))).action).toBe('failed')
    expect((await applyOne(configMap('apps', 'unlabelled'), { known: [entry!] })).action).toBe('configured')
    expect(jsonAt(await get(cluster.server, `${CONFIGMAPS}/unlabelled`), 'data')).toEqual({ key: 'value' })
  })

  test('owner labels forged in git are overwritten', async () => {
    const labels = { 'kustomize.toolkit.fluxcd.io/name': 'flux-system', mine: 'kept' }
    const forged = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'forged', namespace: 'apps', labels } }
    await applyOne(forged)
    expect(jsonAt(await get(cluster.server, `${CONFIGMAPS}/forged`), 'metadata', 'labels')).toEqual({
      'kustomize.toolkit.fluxcd.io/name': 'dev-team',
      'kustomize.toolkit.fluxcd.io/namespace': 'apps',
      mine: 'kept',
    })
  })

  test('a Secret is written as data, and its value stays out of the refusal', async () => {
    const secret = (more: { [key: string]: Json }): Json => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'token', namespace: 'apps' },
      ...more,
    })
    expect((await applyOne(secret({ stringData: { token: 'hunter2' } }))).action).toBe('created')
    expect((await applyOne(secret({ stringData: { next: 'hunter3' } }))).action).toBe('configured')
    const live = await get(cluster.server, '/api/v1/namespaces/apps/secrets/token')
    expect(jsonAt(live, 'data')).toEqual({ next: Buffer.from('hunter3').toString('base64') })
    const refused = await applyOne(secret({ data: { token: 314159265 } }))
    expect(refused.action).toBe('failed')
    expect(refused.message).toContain('the API server refuses Secret apps/token (status')
    expect(refused.message).not.toContain('314159265')
  })

  test.each<[string, Json, string]>([
    [
      'an unknown kind',
      { apiVersion: 'no.such/v1', kind: 'Thing', metadata: { name: 'x' } },
      'no kind Thing in no.such/v1',
    ],
    [
      'no namespace',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
      'ConfigMap x: the namespace is missing',
    ],
    ['no name', configMap('apps', ''), 'has no name'],
    ['a name that is a path', configMap('apps', '../secrets/x'), 'the name "../secrets/x"'],
    ['a namespace that is not there', configMap('nowhere', 'x'), 'forbidden'],
    [
      'a list for labels',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'apps', labels: ['a'] } },
      'metadata.labels is not a map',
    ],
    [
      'an unknown field',
      { ...(configMap('apps', 'x') as { [key: string]: Json }), nonsense: { a: 1 } },
      '.nonsense: field not declared in schema',
    ],
  ])('%s is refused and says so', async (_what, object, message) => {
    const result = await applyOne(object)
    expect(result.action).toBe('failed')
    expect(result.message).toContain(message)
  })

  test('the same object twice, in another version of its group too, is refused', async () => {
    const result = await apply([configMap('apps', 'twice'), configMap('apps', 'twice', { key: 'two' })])
    expect(result.objects.map(({ action }) => action).sort()).toEqual(['failed', 'withheld'])
    const scaler = (version: string): Json => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'web', namespace: 'apps' },
      spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    })
    const versions = await apply([scaler('v1'), scaler('v2')])
    expect(versions.objects.map(({ action }) => action).sort()).toEqual(['failed', 'withheld'])
  })

  test("Flux's switches are honoured", async () => {
    const annotated = (name: string, key: string, value: string): Json => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'apps', annotations: { [`kustomize.toolkit.fluxcd.io/${key}`]: value } },
    })
    expect((await applyOne(annotated('off', 'reconcile', 'disabled'))).action).toBe('skipped')
    expect((await applyOne(annotated('ignore', 'ssa', 'Ignore'))).action).toBe('skipped')
    expect((await applyOne(annotated('once', 'ssa', 'IfNotPresent'))).action).toBe('created')
    expect((await applyOne(annotated('once', 'ssa', 'IfNotPresent'))).action).toBe('skipped')
  })

  test('integers beyond 2^53 reach the cluster as they were judged', async () => {
    const text = JSON.stringify({
      apiVersion: 'acme.example/v1',
      kind: 'Widget',
      metadata: { name: 'big', namespace: 'apps' },
      size: 0,
    }).replace('"size":0', '"size":9007199254740993')
    expect((await applyOne(parseExact(text), { user: platform })).action).toBe('created')
    const list = await cluster.server.request('GET', '/apis/acme.example/v1/namespaces/apps/widgets/big?pretty=false')
    expect(JSON.stringify(list.body)).toContain('900719925474099')
    expect((await applyOne(parseExact(text), { user: platform })).action).toBe('unchanged')
  })

  test('an empty user and injected headers are refused before anything is sent', async () => {
    for (const bad of ['', 'admin', 'system:serviceaccount:apps:x\r\nImpersonate-Group: system:masters']) {
      const result = apply([configMap('apps', 'never')], { user: bad })
      expect((await result).objects[0]).toMatchObject({ action: 'failed', code: 'cluster-invalid' })
    }
    expect(await get(cluster.server, `${CONFIGMAPS}/never`)).toBeUndefined()
  })
})

const widgetDefinition: Json = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.acme.example' },
  spec: {
    group: 'acme.example',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: { type: 'object', properties: { size: { type: 'integer', format: 'int64' } } },
        },
      },
    ],
  },
}
