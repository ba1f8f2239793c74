import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  claim,
  type InventoryEntry,
  inventoryName,
  newInventory,
  readInventories,
  removeInventory,
} from '../../src/cluster/inventory.ts'
import { jsonAt } from '../../src/cluster/json.ts'
import { type ClusterUnderTest, create, get, haveAssets, startUnderTest } from './cluster-under-test.ts'

const USER = 'system:serviceaccount:apps:dev-team'
const CONFIGMAPS = '/api/v1/namespaces/bailiwick-system/configmaps'

describe.skipIf(!haveAssets())('inventories on a real API server', () => {
  let cluster: ClusterUnderTest
  const fresh = (node: string) => newInventory('staging', node, USER)

  beforeAll(async () => {
    cluster = await startUnderTest()
  })
  afterAll(() => cluster?.stop())

  test('what is claimed is read again, as the worker with its documented rights', async () => {
    const entries: InventoryEntry[] = [{ id: 'apps_web_apps_Deployment', v: 'v1', uid: 'u-1' }]
    const patch = {
      entries,
      prune: true,
      parent: 'staging/flux-system/flux-system',
      digest: 'd',
      revision: 'main@sha1:0',
    }
    const claimed = await claim(cluster.client, fresh('staging/apps/dev-team'), patch)
    expect(claimed.resourceVersion).not.toBe('')
    expect(await readInventories(cluster.client)).toEqual([claimed])
    const next = await claim(cluster.client, claimed, { entries: [] })
    expect(next.resourceVersion).not.toBe(claimed.resourceVersion)
    await removeInventory(cluster.client, next)
    expect(await readInventories(cluster.client)).toEqual([])
  })

  test('of two workers one is fenced, on the first claim and on the next, even where nothing changes', async () => {
    const first = await claim(cluster.client, fresh('staging/apps/race'))
    await expect(claim(cluster.client, fresh('staging/apps/race'))).rejects.toMatchObject({ code: 'cluster-fenced' })
    const again = await claim(cluster.client, first)
    await expect(claim(cluster.client, first)).rejects.toMatchObject({ code: 'cluster-fenced' })
    await expect(removeInventory(cluster.client, first)).rejects.toMatchObject({ code: 'cluster-fenced' })
    await removeInventory(cluster.client, again)
    await expect(claim(cluster.client, again)).rejects.toMatchObject({ code: 'cluster-fenced' })
  })

  test('another cluster in the same namespace is not seen', async () => {
    const other = await claim(cluster.client, newInventory('production', 'production/apps/x', USER))
    expect(await readInventories(cluster.client)).toEqual([])
    expect(await readInventories(cluster.client, 'production')).toEqual([other])
    await removeInventory(cluster.client, other)
  })

  test('30 inventories come over several pages, a large one packed', async () => {
    const large = Array.from({ length: 12_000 }, (_, index) => ({
      id: `apps_object-${String(index).padStart(5, '0')}__ConfigMap`,
      v: 'v1',
      uid: randomUUID(),
    }))
    const claimed = [await claim(cluster.client, fresh('staging/many/00'), { entries: large })]
    for (let index = 1; index < 30; index++) {
      claimed.push(await claim(cluster.client, fresh(`staging/many/${String(index).padStart(2, '0')}`)))
    }
    const stored = await get(cluster.server, `${CONFIGMAPS}/${inventoryName('staging/many/00')}`)
    expect(Object.keys((jsonAt(stored, 'binaryData') ?? {}) as object)).toEqual(['inventory.json.gz'])
    expect(await readInventories(cluster.client)).toEqual(claimed)
    for (const inventory of claimed) await removeInventory(cluster.client, inventory)
  })

  test('what is known already is not read again, what changed, came and went is', async () => {
    const patch = { entries: [{ id: 'apps_a__ConfigMap', v: 'v1' }] }
    const [same, changed, gone] = await Promise.all(
      ['same', 'changed', 'gone'].map(name => claim(cluster.client, fresh(`staging/known/${name}`), patch)),
    )
    const known = new Map([same!, changed!, gone!].map(inventory => [inventory.node, inventory]))
    const after = await claim(cluster.client, changed!, { entries: [] })
    const added = await claim(cluster.client, fresh('staging/known/added'))
    await removeInventory(cluster.client, gone!)
    const whole: string[] = []
    const client: typeof cluster.client = {
      ...cluster.client,
      request(actor, method, path, options) {
        if (options?.accept === undefined) whole.push(path)
        return cluster.client.request(actor, method, path, options)
      },
    }
    expect(await readInventories(client, 'staging', known)).toEqual([added, after, same])
    expect(whole.toSorted()).toEqual(
      [added, after].map(({ node }) => `${CONFIGMAPS}/${inventoryName(node)}`).toSorted(),
    )
    for (const inventory of [same!, after, added]) await removeInventory(cluster.client, inventory)
  })

  test('what does not fit is refused before anything is written', async () => {
    const entries = Array.from({ length: 60_000 }, () => ({
      id: `a_${randomUUID()}__ConfigMap`,
      v: 'v1',
      uid: randomUUID(),
    }))
    const result = claim(cluster.client, fresh('staging/apps/huge'), { entries })
    await expect(result).rejects.toThrow('staging/apps/huge: 60000 objects do not fit')
    expect(await readInventories(cluster.client)).toEqual([])
  })

  test.each([
    ['no JSON', { 'inventory.json': 'oops' }],
    ['no content', {}],
    ['the content of another node', { 'inventory.json': JSON.stringify({ node: 'staging/kube-system/x' }) }],
    [
      'an entry that is none',
      { 'inventory.json': JSON.stringify({ node: 'staging/apps/bad', entries: [{ id: 'x', v: '' }] }) },
    ],
  ])('%s is an error that names the ConfigMap', async (_what, data) => {
    const name = inventoryName('staging/apps/bad')
    const labels = { 'app.kubernetes.io/managed-by': 'bailiwick', 'bailiwick.dev/cluster': 'staging' }
    await create(cluster.server, CONFIGMAPS, { metadata: { name, labels }, data })
    const result = readInventories(cluster.client)
    await expect(result).rejects.toMatchObject({ code: 'cluster-invalid', message: expect.stringContaining(name) })
    await cluster.server.request('DELETE', `${CONFIGMAPS}/${name}`)
  })

  test('without its namespace the worker says what to do', async () => {
    const elsewhere = { ...cluster.client, namespace: 'nowhere' }
    await expect(claim(elsewhere, fresh('staging/apps/x'))).rejects.toMatchObject({ code: 'cluster-forbidden' })
  })
})
