import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { jsonAt } from '../../src/cluster/json.ts'
import type { Json } from '../../src/kube/node.ts'
import { WatchedCluster } from '../../workers/apply/watched-cluster.ts'
import { approvedNode, approvedOf, keyOf } from './approved-node.ts'
import {
  binding,
  type ClusterUnderTest,
  configMap,
  create,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'

const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'
const OWNER = { 'kustomize.toolkit.fluxcd.io/name': 'web', 'kustomize.toolkit.fluxcd.io/namespace': 'apps' }

describe.skipIf(!haveAssets())('drift on a real API server', () => {
  let cluster: ClusterUnderTest
  let user: string
  let watched: WatchedCluster
  let requests: string[]
  let again: number
  let warned: unknown[]

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
  })
  afterAll(() => cluster?.stop())
  beforeEach(async () => {
    requests = []
    again = 0
    warned = []
    watched = await open('watch')
  })
  afterEach(() => watched.close())

  const open = async (drift: 'watch' | 'poll', pollMs = 3_600_000) => {
    const plain = await connect(binding('staging', cluster.server.workerKubeconfig))
    const client: ClusterClient = {
      ...plain,
      request(actor, method, path, options) {
        if (actor !== 'worker') requests.push(`${method} ${path}`)
        return plain.request(actor, method, path, options)
      },
    }
    return new WatchedCluster({
      client,
      drift,
      fullPassMs: 3_600_000,
      pollMs,
      log: { debug: () => {}, info: () => {}, error: () => {}, warn: (what: unknown) => void warned.push(what) },
      again: () => again++,
    })
  }
  const run = (...objects: Json[]) =>
    watched.run(approvedOf([approvedNode(user, 'web', objects)]), AbortSignal.timeout(60_000))
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await sleep(10)
  }
  const dataOf = async (name: string) => jsonAt(await get(cluster.server, `${CONFIGMAPS}/${name}`), 'data', 'key')
  const merge = (name: string, patch: Json) =>
    cluster.server.request('PATCH', `${CONFIGMAPS}/${name}`, patch, { contentType: 'application/merge-patch+json' })
  /** The watch is on: what happens now is seen. */
  const startWatching = async (name: string) => {
    for (let round = 0; ; round++) {
      await merge(name, { data: { key: `probe ${round}` } })
      for (let wait = 0; wait < 100; wait++) {
        if ((await dataOf(name)) === 'value') return
        await sleep(10)
      }
    }
  }

  test('a value that somebody changes, a field that is removed, a label that is taken off: put back', async () => {
    await run(configMap('apps', 'web'))
    await startWatching('web')
    await merge('web', { data: { key: null } })
    await until(async () => (await dataOf('web')) === 'value')
    await merge('web', { metadata: { labels: { 'kustomize.toolkit.fluxcd.io/name': null } } })
    const labels = async () => jsonAt(await get(cluster.server, `${CONFIGMAPS}/web`), 'metadata', 'labels')
    await until(async () => JSON.stringify(await labels()) === JSON.stringify(OWNER))
    expect(again).toBe(0)
  })

  test('an object that somebody deletes is made again', async () => {
    await run(configMap('apps', 'web'), configMap('apps', 'other'))
    await startWatching('web')
    await cluster.server.request('DELETE', `${CONFIGMAPS}/other`)
    await until(async () => (await dataOf('other')) === 'value')
    await cluster.server.request('DELETE', `${CONFIGMAPS}/other`)
    await until(async () => (await dataOf('other')) === 'value')
  })

  test('what we write ourselves, what others add, and what only claims to be ours asks for nothing', async () => {
    await run(configMap('apps', 'web'))
    await startWatching('web')
    await run(configMap('apps', 'web', { key: 'value', more: '2' }))
    const forged = { metadata: { name: 'forged', labels: OWNER }, data: { key: 'x' } }
    await create(cluster.server, CONFIGMAPS, forged)
    await merge('web', { data: { beside: 'x' }, metadata: { annotations: { note: 'x' } } })
    await merge('forged', { data: { key: 'y' } })
    await cluster.server.request('DELETE', `${CONFIGMAPS}/forged`)
    requests.length = 0
    await sleep(300)
    expect(requests).toEqual([])
    expect(again).toBe(0)
  })

  test('a run in which nothing changed asks nothing about objects, and what it prunes is no drift', async () => {
    await run(configMap('apps', 'web'), configMap('apps', 'gone'))
    await startWatching('web')
    await run(configMap('apps', 'web'))
    expect(await get(cluster.server, `${CONFIGMAPS}/gone`)).toBeUndefined()
    await sleep(300)
    requests.length = 0
    await run(configMap('apps', 'web'))
    await sleep(100)
    expect(requests).toEqual([])
  })

  test('drift of a node that is no longer approved is left alone, and somebody looks what is approved', async () => {
    await run(configMap('apps', 'web'))
    await startWatching('web')
    const held = {
      ...approvedOf([approvedNode(user, 'web', [])]),
      apply: [],
      held: [{ node: keyOf('web'), reason: 'red' }],
    }
    await watched.run(held, AbortSignal.timeout(60_000))
    await merge('web', { data: { key: 'theirs' } })
    await until(async () => again > 0)
    expect(await dataOf('web')).toBe('theirs')
    await run(configMap('apps', 'web'))
    expect(await dataOf('web')).toBe('value')
  })

  test('a kind that the worker may not watch is said once, and looked at with every poll', async () => {
    await watched.close()
    watched = await open('watch', 0)
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: 'apps', name: 's' },
      data: { key: Buffer.from('value').toString('base64') },
    }
    await run(secret)
    await until(async () => warned.length > 0)
    expect(warned).toEqual([
      expect.objectContaining({ kind: 'Secret.', reason: expect.stringContaining('cannot list') }),
    ])
    await cluster.server.request('DELETE', '/api/v1/namespaces/apps/secrets/s')
    await run(secret)
    expect(await get(cluster.server, '/api/v1/namespaces/apps/secrets/s')).toBeDefined()
    expect(warned).toHaveLength(1)
  })

  test('with drift: poll nothing is watched', async () => {
    await watched.close()
    watched = await open('poll')
    await run(configMap('apps', 'web'))
    await merge('web', { data: { key: 'theirs' } })
    await sleep(200)
    await run(configMap('apps', 'web'))
    expect(await dataOf('web')).toBe('theirs')
    await watched.close()
    watched = await open('poll', 0)
    await run(configMap('apps', 'web'))
    expect(await dataOf('web')).toBe('value')
  })
})
