import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyObjects } from '../../src/cluster/apply-objects.ts'
import type { InventoryEntry } from '../../src/cluster/inventory.ts'
import { pruneObjects } from '../../src/cluster/prune-objects.ts'
import type { Json } from '../../src/kube/node.ts'
import {
  type ClusterUnderTest,
  configMap,
  create,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'

const owner = { namespace: 'apps', name: 'dev-team' }
const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'

describe.skipIf(!haveAssets())('pruneObjects on a real API server', () => {
  let cluster: ClusterUnderTest
  let user: string

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
    await create(cluster.server, '/api/v1/namespaces', { metadata: { name: 'other' } })
  })
  afterAll(() => cluster?.stop())

  const apply = async (objects: Json[]): Promise<InventoryEntry[]> => {
    const { objects: results } = await applyObjects(cluster.client, { user, owner, objects })
    return results.map(result => result.entry!)
  }
  const prune = (entries: readonly InventoryEntry[], as = user) =>
    pruneObjects(cluster.client, { user: as, owner, entries })
  const change = (name: string, metadata: Json) =>
    cluster.server.request(
      'PATCH',
      `${CONFIGMAPS}/${name}`,
      { metadata },
      { contentType: 'application/merge-patch+json' },
    )

  test('deletes in reverse order of applying, and what is gone counts as deleted', async () => {
    const account: Json = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa', namespace: 'apps' } }
    const entries = await apply([account, configMap('apps', 'a'), configMap('apps', 'b')])
    await cluster.server.request('DELETE', `${CONFIGMAPS}/a`)
    const result = await prune(entries)
    expect(result.objects.map(({ id, action, message }) => [id.kind, id.name, action, message])).toEqual([
      ['ConfigMap', 'b', 'deleted', undefined],
      ['ConfigMap', 'a', 'deleted', 'it was already deleted'],
      ['ServiceAccount', 'sa', 'deleted', undefined],
    ])
    expect(result.remaining).toEqual([])
    expect(await get(cluster.server, `${CONFIGMAPS}/b`)).toBeUndefined()
  })

  test('what is of one kind is deleted side by side, and another kind only after it', async () => {
    const account: Json = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'side', namespace: 'apps' } }
    const maps = Array.from({ length: 20 }, (_, index) => configMap('apps', `side-${index}`))
    const entries = await apply([account, ...maps])
    const deleted: string[] = []
    const waiting: (() => void)[] = []
    const client: typeof cluster.client = {
      ...cluster.client,
      async request(actor, method, path, options) {
        if (method !== 'DELETE') return cluster.client.request(actor, method, path, options)
        deleted.push(path)
        // 16 at once, or this waits for ever
        if (deleted.length < 16) await new Promise<void>(resolve => waiting.push(resolve))
        for (const resolve of waiting.splice(0)) resolve()
        return cluster.client.request(actor, method, path, options)
      },
    }
    const result = await pruneObjects(client, { user, owner, entries })
    expect(result.remaining).toEqual([])
    expect(result.objects.map(({ action }) => action)).toEqual(Array.from({ length: 21 }, () => 'deleted'))
    expect(deleted.findIndex(path => path.endsWith('/serviceaccounts/side'))).toBe(20)
  })

  test('a poisoned inventory deletes nothing that does not carry our labels', async () => {
    await create(cluster.server, CONFIGMAPS, { metadata: { name: 'by-hand' } })
    const labels = { 'kustomize.toolkit.fluxcd.io/name': 'dev-team', 'kustomize.toolkit.fluxcd.io/namespace': 'other' }
    await create(cluster.server, CONFIGMAPS, { metadata: { name: 'taken-over', labels } })
    const result = await prune([
      { id: 'apps_by-hand__ConfigMap', v: 'v1' },
      { id: 'apps_taken-over__ConfigMap', v: 'v1' },
    ])
    expect(result.objects.map(({ action }) => action)).toEqual(['skipped', 'skipped'])
    expect(result.objects[0]!.message).toContain('does not have the owner labels of Bailiwick')
    expect(result.remaining).toEqual([])
    expect(await get(cluster.server, `${CONFIGMAPS}/by-hand`)).toBeDefined()
    expect(await get(cluster.server, `${CONFIGMAPS}/taken-over`)).toBeDefined()
  })

  test('an object that somebody made again under our labels is not the one that we made', async () => {
    const [entry] = await apply([configMap('apps', 'again')])
    await cluster.server.request('DELETE', `${CONFIGMAPS}/again`)
    await apply([configMap('apps', 'again')])
    expect((await prune([entry!])).objects[0]).toMatchObject({ action: 'skipped' })
    expect((await prune([{ id: entry!.id, v: 'v1' }])).objects[0]).toMatchObject({ action: 'deleted' })
  })

  test('prune: disabled on the live object keeps it', async () => {
    const entries = await apply([configMap('apps', 'kept')])
    await change('kept', { annotations: { 'kustomize.toolkit.fluxcd.io/prune': 'Disabled' } })
    const result = await prune(entries)
    expect(result.objects[0]).toMatchObject({
      action: 'skipped',
      message: 'kustomize.toolkit.fluxcd.io/prune: disabled',
    })
    expect(await get(cluster.server, `${CONFIGMAPS}/kept`)).toBeDefined()
  })

  test('what the account may not delete stays in the inventory with the message, the rest is deleted', async () => {
    const foreign = { id: 'other_x__ConfigMap', v: 'v1' }
    const [mine] = await apply([configMap('apps', 'mine')])
    const result = await prune([foreign, mine!])
    expect(result.remaining).toEqual([foreign])
    expect(result.objects.map(({ action }) => action)).toEqual(['failed', 'deleted'])
    expect(result.objects[0]!.message).toContain(`User "${user}" cannot get resource "configmaps"`)
  })

  test('objects of a kind that the cluster no longer has are gone', async () => {
    const result = await prune([{ id: 'apps_x_acme.example_Widget', v: 'v1' }])
    expect(result.objects[0]).toMatchObject({ action: 'deleted', message: 'the cluster has no kind Widget any more' })
  })

  test('a version that is served no more does not hide the object, a removed definition does', async () => {
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await create(cluster.server, crds, gadgetDefinition)
    const gadget: Json = {
      apiVersion: 'acme.example/v1beta1',
      kind: 'Gadget',
      metadata: { name: 'g', namespace: 'apps' },
    }
    const [entry] = await until(async () => {
      const { failed, objects } = await applyObjects(cluster.client, { user, owner, objects: [gadget] })
      return failed === 0 ? objects.map(result => result.entry!) : undefined
    })
    const change = [{ op: 'replace', path: '/spec/versions/1/served', value: false }]
    const options = { contentType: 'application/json-patch+json' }
    await cluster.server.request('PATCH', `${crds}/gadgets.acme.example`, change, options)
    const gadgets = '/apis/acme.example'
    await until(async () => (await cluster.server.request('GET', `${gadgets}/v1beta1`)).status === 404 || undefined)
    expect((await prune([entry!])).objects[0]).toEqual(expect.objectContaining({ action: 'deleted' }))
    expect(await get(cluster.server, `${gadgets}/v1/namespaces/apps/gadgets/g`)).toBeUndefined()

    await cluster.server.request('DELETE', `${crds}/gadgets.acme.example`)
    await until(async () => (await cluster.server.request('GET', `${gadgets}/v1`)).status === 404 || undefined)
    const gone = (await prune([entry!])).objects[0]
    expect(gone).toMatchObject({ action: 'deleted', message: 'the cluster has no kind Gadget any more' })
    const again = await applyObjects(cluster.client, { user, owner, objects: [gadget] })
    expect(again.objects[0]).toMatchObject({ action: 'failed', code: 'cluster-invalid' })
  })

  test('never as the worker itself', async () => {
    const entries = await apply([configMap('apps', 'as-nobody')])
    expect((await prune(entries, '')).objects[0]).toMatchObject({ action: 'failed' })
    expect(await get(cluster.server, `${CONFIGMAPS}/as-nobody`)).toBeDefined()
  })
})

async function until<T>(probe: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const found = await probe()
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error('not so after 10 s')
}

const schema = { openAPIV3Schema: { type: 'object' } }
const gadgetDefinition: Json = {
  metadata: { name: 'gadgets.acme.example' },
  spec: {
    group: 'acme.example',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v1beta1', served: true, storage: false, schema },
    ],
  },
}
