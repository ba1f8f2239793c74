import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import type { InventoryEntry } from '../../src/cluster/inventory.ts'
import { leaveIgnored } from '../../src/cluster/leave-ignored.ts'
import type { IgnoreRule } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import { type ClusterUnderTest, createTenant, get, haveAssets, startUnderTest } from './cluster-under-test.ts'

const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'
const owner = { namespace: 'apps', name: 'dev-team' }

const map = (name: string, data: Json, labels: Json = {}): Json => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'apps', labels } },
  data,
})

describe.skipIf(!haveAssets())('spec.ignore on a real API server', () => {
  let cluster: ClusterUnderTest
  let user: string
  let known: InventoryEntry[] = []

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
  })
  afterAll(() => cluster?.stop())

  const apply = async (object: Json, ignore: readonly IgnoreRule[]) => {
    const { objects } = await applyObjects(cluster.client, { user, owner, objects: [object], known, ignore })
    known = objects.flatMap(({ entry }) => entry ?? [])
    return objects[0]!.action
  }
  const data = async (name: string) => ((await get(cluster.server, `${CONFIGMAPS}/${name}`)) as { data: Json }).data
  const change = async (name: string, patch: Json) => {
    const contentType = 'application/merge-patch+json'
    const { status } = await cluster.server.request('PATCH', `${CONFIGMAPS}/${name}`, patch, { contentType })
    expect(status).toBe(200)
  }
  const rule: IgnoreRule = { paths: ['/data/size'] }

  test('a new object has all its fields; what others change there is left, and makes no write', async () => {
    expect(await apply(map('a', { size: '1', mode: 'x' }), [rule])).toBe('created')
    expect(await data('a')).toEqual({ size: '1', mode: 'x' })
    await change('a', { data: { size: '9' } })
    expect(await apply(map('a', { size: '1', mode: 'x' }), [rule])).toBe('unchanged')
    expect(await data('a')).toEqual({ size: '9', mode: 'x' })
  })

  test('where something else differs it is applied, and the ignored field keeps its live value', async () => {
    await change('a', { data: { mode: 'z' } })
    expect(await apply(map('a', { size: '1', mode: 'x' }), [rule])).toBe('configured')
    expect(await data('a')).toEqual({ size: '9', mode: 'x' })
  })

  test('without the rule it is put back', async () => {
    expect(await apply(map('a', { size: '1', mode: 'x' }), [])).toBe('configured')
    expect(await data('a')).toEqual({ size: '1', mode: 'x' })
  })

  test('a rule for other objects ignores nothing of this one', async () => {
    const other = { ...rule, target: { name: 'b|c' } }
    await change('a', { data: { size: '9' } })
    expect(await apply(map('a', { size: '1', mode: 'x' }), [other])).toBe('configured')
    expect(await data('a')).toEqual({ size: '1', mode: 'x' })
  })

  test('a field that somebody else applies is left to that manager', async () => {
    expect(await apply(map('d', { size: '1', mode: 'x' }), [rule])).toBe('created')
    const theirs = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'd', namespace: 'apps' },
      data: { size: '7' },
    }
    const query = 'fieldManager=autoscaler&force=true'
    const contentType = 'application/apply-patch+yaml'
    await cluster.server.request('PATCH', `${CONFIGMAPS}/d?${query}`, theirs, { contentType })
    await change('d', { data: { mode: 'z' } })
    expect(await apply(map('d', { size: '1', mode: 'x' }), [rule])).toBe('configured')
    expect(await data('d')).toEqual({ size: '7', mode: 'x' })
    const live = (await get(cluster.server, `${CONFIGMAPS}/d`)) as { metadata: { managedFields: Json[] } }
    const owners = live.metadata.managedFields.filter(entry => JSON.stringify(entry).includes('f:size'))
    expect(owners.map(entry => (entry as { manager: string }).manager)).toEqual(['autoscaler'])
  })

  test('owner labels are never ignored away', async () => {
    expect(await apply(map('e', { a: '1' }), [{ paths: ['/metadata/labels'] }])).toBe('created')
    await change('e', { metadata: { labels: null } })
    expect(await apply(map('e', { a: '1' }), [{ paths: ['/metadata/labels'] }])).toBe('configured')
    const live = (await get(cluster.server, `${CONFIGMAPS}/e`)) as { metadata: { labels: Json } }
    expect(live.metadata.labels).toMatchObject({ 'kustomize.toolkit.fluxcd.io/name': 'dev-team' })
  })
})

describe('what rules select', () => {
  const live = map('web-1', { size: '9' }, { app: 'web' })
  const dry = map('web-1', { size: '1' }, { app: 'web' })
  const kept = (target: IgnoreRule['target']) => {
    const rules = [{ paths: ['/data/size'], ...(target ? { target } : {}) }]
    const { body } = leaveIgnored({ rules, live, dry, body: dry, manager: 'm' })
    return (body as { data: { size: string } }).data.size === '9'
  }

  test.each<[NonNullable<IgnoreRule['target']>, boolean]>([
    [{}, true],
    [{ kind: 'ConfigMap' }, true],
    [{ kind: 'Config' }, false],
    [{ name: 'web-[0-9]' }, true],
    [{ name: 'web' }, false],
    [{ namespace: 'apps', version: 'v1' }, true],
    [{ namespace: 'ops' }, false],
    [{ group: 'apps' }, false],
    [{ labelSelector: 'app in (web, api)' }, true],
    [{ labelSelector: 'app=api' }, false],
    [{ annotationSelector: 'a' }, false],
  ])('%j: %s', (target, isKept) => expect(kept(target)).toBe(isKept))

  test('pointers into lists, and escaped ones', () => {
    const object = (image: string, note: string): Json => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'apps', annotations: { 'a/b~c': note } } },
      spec: { containers: [{ name: 'x', image }] },
    })
    const rules = [{ paths: ['/spec/containers/0/image', '/metadata/annotations/a~1b~0c', '/spec/none/deep'] }]
    const result = leaveIgnored({
      rules,
      live: object('9', 'l'),
      dry: object('1', 'd'),
      body: object('1', 'd'),
      manager: 'm',
    })
    expect(result.body).toEqual(object('9', 'l'))
    expect(result.live).toEqual(result.dry)
  })
})
