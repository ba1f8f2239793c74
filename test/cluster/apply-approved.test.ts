import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { jsonAt } from '../../src/cluster/json.ts'
import type { Json } from '../../src/kube/node.ts'
import type { AppliedNode } from '../../src/report/apply-report.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import { ClusterMemory } from '../../workers/apply/cluster-memory.ts'
import { approvedNode, approvedOf, keyOf } from './approved-node.ts'
import {
  binding,
  type ClusterUnderTest,
  configMap,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'

const INVENTORIES = '/api/v1/namespaces/bailiwick-system/configmaps'
const STATUSES = '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations'

describe.skipIf(!haveAssets())('what is approved, on a real API server', () => {
  let cluster: ClusterUnderTest
  let user: string
  let client: ClusterClient
  let requests: string[]

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
  })
  afterAll(() => cluster?.stop())
  beforeEach(() => {
    requests = []
    client = {
      ...cluster.client,
      request(actor, method, path, options) {
        requests.push(`${method} ${path}`)
        return cluster.client.request(actor, method, path, options)
      },
    }
  })

  const node = (name: string, objects: readonly Json[], more: Partial<ApprovedNode> = {}) =>
    approvedNode(user, name, objects, more)
  const run = (nodes: readonly ApprovedNode[], memory?: ClusterMemory, by: ClusterClient = client) =>
    applyApproved(by, approvedOf(nodes), AbortSignal.timeout(60_000), memory)
  const actions = (said: readonly AppliedNode[]) =>
    said.map(({ key: name, outcome, objects }) => [name, outcome, ...objects.map(({ action }) => action)])
  const ofObjects = () => requests.filter(request => !request.includes(INVENTORIES) && !request.includes(STATUSES))
  const live = (name: string) => get(cluster.server, `/api/v1/namespaces/apps/configmaps/${name}`)

  test('a push that changes nothing asks nothing about objects, and writes nothing', async () => {
    const nodes = ['a', 'b', 'c'].map(name => node(name, [configMap('apps', `same-${name}`)]))
    const first = await run(nodes)
    expect(actions(first)).toEqual(nodes.map(({ key }) => [key, 'applied', 'created']))
    requests.length = 0
    const pushed = nodes.map(one => ({ ...one, revisionSet: 'two', source: { ...one.source, commit: 'd' } }))
    expect(actions(await run(pushed))).toEqual(nodes.map(({ key }) => [key, 'applied', 'unchanged']))
    expect(requests).toEqual([`GET ${STATUSES}`, `GET ${INVENTORIES}`])
  })

  test('one node that changed costs at most 15 requests, whatever else there is', async () => {
    const objects = (text: string) =>
      [1, 2, 3, 4].map(index => configMap('apps', `many-${index}`, { text: index === 1 ? text : 'same' }))
    const others = Array.from({ length: 20 }, (_, index) => node(`o-${index}`, [configMap('apps', `o-${index}`)]))
    await run([...others, node('many', objects('one'))])
    requests.length = 0
    const said = await run([...others, node('many', objects('two'), { revisionSet: 'two' })])
    expect(actions(said).at(-1)).toEqual([
      keyOf('many'),
      'applied',
      'configured',
      'unchanged',
      'unchanged',
      'unchanged',
    ])
    // what its status costs is counted apart
    expect(requests.filter(request => !request.includes(STATUSES)).length).toBeLessThanOrEqual(15)
  })

  test('a node that is suspected is looked at, and put back', async () => {
    const memory = new ClusterMemory()
    const nodes = [node('drift', [configMap('apps', 'drift')])]
    await run(nodes, memory)
    await cluster.server.request(
      'PATCH',
      '/api/v1/namespaces/apps/configmaps/drift',
      { data: { key: 'other' } },
      { contentType: 'application/merge-patch+json' },
    )
    await run(nodes, memory)
    expect(jsonAt(await live('drift'), 'data', 'key')).toBe('other')
    memory.suspect(keyOf('drift'))
    expect(actions(await run(nodes, memory))).toEqual([[keyOf('drift'), 'applied', 'configured']])
    expect(jsonAt(await live('drift'), 'data', 'key')).toBe('value')
    requests.length = 0
    await run(nodes, memory)
    expect(ofObjects()).toEqual([])
  })

  test('what is left to prune is no settled node: it is pruned in the next run, and then settled', async () => {
    const [one, two] = [configMap('apps', 'stays'), configMap('apps', 'goes')]
    await run([node('tidy', [one, two])])
    const denied: ClusterClient = {
      ...client,
      async request(actor, method, path, options) {
        if (method !== 'DELETE') return client.request(actor, method, path, options)
        throw Object.assign(new Error('never asked'), { code: 'never' })
      },
    }
    expect(await run([node('tidy', [one])], undefined, denied)).toMatchObject([{ outcome: 'failed' }])
    expect(await live('goes')).toBeDefined()
    await run([node('tidy', [one])])
    expect(await live('goes')).toBeUndefined()
    requests.length = 0
    await run([node('tidy', [one])])
    expect(ofObjects()).toEqual([])
  })

  test('a node that fails rests alone: the others are settled, and it is tried again when it is time', async () => {
    let now = 0
    const memory = new ClusterMemory({ now: () => now })
    const bad = node('bad', [configMap('elsewhere', 'bad')])
    const nodes = [bad, node('good', [configMap('apps', 'good')])]
    const first = await run(nodes, memory)
    expect(actions(first)).toEqual([
      [keyOf('bad'), 'applied', 'refused'],
      [keyOf('good'), 'applied', 'created'],
    ])
    requests.length = 0
    const { objects } = first[0]!
    expect((await run(nodes, memory))[0]).toMatchObject({ key: keyOf('bad'), outcome: 'applied', objects })
    expect(ofObjects()).toEqual([])
    now += memory.retries.nextInMs()!
    await run(nodes, memory)
    expect(ofObjects().length).toBeGreaterThan(0)
    requests.length = 0
    await run([{ ...bad, revisionSet: 'two' }], memory)
    expect(ofObjects().length).toBeGreaterThan(0)
  })

  test('of two workers one is fenced, and the end is that of one worker', async () => {
    const other = await connect(binding('staging', cluster.server.workerKubeconfig))
    const nodes = Array.from({ length: 6 }, (_, index) => node(`race-${index}`, [configMap('apps', `race-${index}`)]))
    const ended = await Promise.allSettled([run(nodes), run(nodes, undefined, other)])
    const reasons = ended.flatMap(one => (one.status === 'rejected' ? [one.reason.code] : []))
    expect(reasons.filter(code => code !== 'cluster-fenced')).toEqual([])
    await run(nodes)
    requests.length = 0
    expect(actions(await run(nodes))).toEqual(nodes.map(one => [one.key, 'applied', 'unchanged']))
    expect(ofObjects()).toEqual([])
    other.close()
  })
})
