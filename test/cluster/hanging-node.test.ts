import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { jsonAt } from '../../src/cluster/json.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import { ClusterMemory } from '../../workers/apply/cluster-memory.ts'
import { LEFT_BEHIND } from '../../workers/apply/node-turns.ts'
import { WatchedCluster } from '../../workers/apply/watched-cluster.ts'
import { silentLog } from '../repository/runner/silent-log.ts'
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
import { type FaultProxy, type Seen, startFaultProxy } from './fault-proxy.ts'

const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'

// nothing here is limited by a clock: what waited for the hanging request would wait for ever
describe.skipIf(!haveAssets())('a request of one Kustomization is not answered', () => {
  let cluster: ClusterUnderTest
  let proxy: FaultProxy
  let client: ClusterClient
  let user: string
  let memory: ClusterMemory
  let answered: PromiseWithResolvers<void>

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
    proxy = await startFaultProxy(cluster.server)
    client = await connect(binding('staging', proxy.kubeconfig), { timeoutMs: 600_000 })
  })
  afterAll(async () => {
    client?.close()
    await proxy?.close()
    await cluster?.stop()
  })
  beforeEach(() => {
    memory = new ClusterMemory({ silenceMs: 1000 })
    answered = Promise.withResolvers()
    proxy.seen.length = 0
  })
  afterEach(async () => {
    proxy.rule = undefined
    answered.resolve()
    await memory.close()
    await applyApproved(cluster.client, { ...approvedOf([]), prunes: everyPrune }, AbortSignal.timeout(60_000))
  })

  const everyPrune = {
    limits: { share: 100, atLeast: 100 },
    approvals: async () => new Set<string>(),
  }
  const node = (name: string, values: Record<string, string>, more: Parameters<typeof approvedNode>[3] = {}) =>
    approvedNode(
      user,
      name,
      Object.entries(values).map(([map, key]) => configMap('apps', map, { key })),
      { revisionSet: JSON.stringify(values), ...more },
    )
  const run = (nodes: ReturnType<typeof node>[]) =>
    applyApproved(client, { ...approvedOf(nodes), prunes: everyPrune }, AbortSignal.timeout(60_000), memory)
  const outcomes = (said: Awaited<ReturnType<typeof run>>) =>
    said.map(({ key, outcome, reason }) => [key, outcome, ...(reason === undefined ? [] : [reason])])
  const dataOf = async (name: string) => jsonAt(await get(cluster.server, `${CONFIGMAPS}/${name}`), 'data', 'key')
  const isWrite = ({ method, query }: Seen) => method !== 'GET' && query.get('dryRun') === null
  const hang = (name: string, matches: (seen: Seen) => boolean = isWrite) => {
    proxy.rule = seen =>
      seen.path === `${CONFIGMAPS}/${name}` && matches(seen) ? { after: answered.promise } : undefined
  }
  const writes = (name: string) => proxy.seen.filter(seen => seen.path === `${CONFIGMAPS}/${name}` && isWrite(seen))
  const until = async (holds: () => boolean | Promise<boolean>) => {
    while (!(await holds())) await sleep(10)
  }

  test('the others are applied, this revision and the next; it goes on by itself and is written once', async () => {
    hang('sick')
    const sick = node('sick', { sick: '1' })
    const child = node('child', { child: '1' }, { parent: keyOf('sick') })
    const follower = node('follower', { follower: '1' }, { dependsOn: [keyOf('sick')] })
    expect(outcomes(await run([sick, child, follower, node('well', { well: '1' })]))).toEqual([
      [keyOf('sick'), 'failed', LEFT_BEHIND],
      [keyOf('child'), 'held', `its parent ${keyOf('sick')} waits`],
      [keyOf('follower'), 'held', `its dependency ${keyOf('sick')} is not ready`],
      [keyOf('well'), 'applied'],
    ])
    const next = outcomes(await run([sick, child, follower, node('well', { well: '2' })]))
    expect(next[3]).toEqual([keyOf('well'), 'applied'])
    expect(await dataOf('well')).toBe('2')
    expect(writes('sick')).toHaveLength(1)

    let ended = 0
    memory.onTurnEnd(mayBeTried => {
      ended += mayBeTried ? 1 : 100
    })
    proxy.rule = undefined
    answered.resolve()
    await until(() => ended > 0)
    expect(ended).toBe(1)
    const last = outcomes(await run([sick, child, follower, node('well', { well: '2' })]))
    expect(last.map(([, outcome]) => outcome)).toEqual(['applied', 'applied', 'applied', 'applied'])
    expect(writes('sick')).toHaveLength(1)
  })

  test('what is approved no more is stopped: a new content is applied, a held node is not', async () => {
    hang('sick')
    await run([node('sick', { sick: '1' }), node('well', { well: '1' })])
    proxy.rule = undefined
    expect(outcomes(await run([node('sick', { sick: '2' }), node('well', { well: '1' })]))).toEqual([
      [keyOf('sick'), 'applied'],
      [keyOf('well'), 'applied'],
    ])
    answered.resolve()
    expect(await dataOf('sick')).toBe('2')

    answered = Promise.withResolvers()
    hang('sick')
    const changed = node('sick', { sick: '3', more: '3' })
    await run([changed])
    const held = { ...approvedOf([changed]), apply: [], held: [{ node: keyOf('sick'), reason: 'red' }] }
    proxy.rule = undefined
    const said = await applyApproved(client, held, AbortSignal.timeout(60_000), memory)
    expect(outcomes(said)).toEqual([[keyOf('sick'), 'held', 'red']])
    await until(() => !memory.turns.isBusy(keyOf('sick')))
    expect(await dataOf('sick')).toBe('2')
  })

  test('what is asked once of a cluster is not asked by each turn', async () => {
    await run(['a', 'b', 'c'].map(name => node(name, { [name]: '1' })))
    expect(proxy.seen.filter(({ path }) => path.endsWith('/selfsubjectreviews')).length).toBeLessThan(2)
  })

  test('who is slow and answered is waited for', async () => {
    const values = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`slow-${index}`, '1']))
    memory = new ClusterMemory({ silenceMs: 1_500 })
    let count = 0
    proxy.rule = seen => (seen.path.includes('/slow-') && isWrite(seen) ? { after: sleep(400 * ++count) } : undefined)
    expect(outcomes(await run([node('slow', values)]))).toEqual([[keyOf('slow'), 'applied']])
  })

  test('a deletion that is not answered keeps no other deletion waiting', async () => {
    const two = (name: string) => ({ [name]: '1', [`${name}-old`]: '1' })
    const root = node('root', {})
    const before = ['sick', 'well', 'gone-sick', 'gone-well'].map(name =>
      node(name, two(name), { parent: keyOf('root') }),
    )
    await run([root, ...before])
    proxy.rule = ({ path, method }) =>
      method === 'DELETE' && /\/(sick-old|gone-sick)$/.test(path) ? { after: answered.promise } : undefined
    const after = ['sick', 'well'].map(name => node(name, { [name]: '1' }, { parent: keyOf('root') }))
    expect(outcomes(await run([root, ...after]))).toEqual([
      [keyOf('root'), 'applied'],
      [keyOf('sick'), 'failed', LEFT_BEHIND],
      [keyOf('well'), 'applied'],
      [keyOf('gone-sick'), 'failed', LEFT_BEHIND],
      [keyOf('gone-well'), 'applied'],
    ])
    expect(await dataOf('well-old')).toBeUndefined()
    expect(await dataOf('gone-well')).toBeUndefined()
    proxy.rule = undefined
    answered.resolve()
    await until(() => !memory.turns.isBusy(keyOf('gone-sick')))
    const said = outcomes(await run([root, ...after]))
    expect(said.every(([, outcome]) => outcome === 'applied')).toBe(true)
    for (const name of ['sick-old', 'gone-sick', 'gone-sick-old']) expect(await dataOf(name)).toBeUndefined()
  })

  test('drift that cannot be put back keeps no push waiting', async () => {
    let again = 0
    const watched = new WatchedCluster({
      client,
      drift: 'watch',
      fullPassMs: 3_600_000,
      pollMs: 3_600_000,
      log: silentLog,
      again: () => void again++,
    })
    const push = (well: string) =>
      watched.run(approvedOf([node('sick', { sick: '1' }), node('well', { well })]), AbortSignal.timeout(60_000))
    await push('1')
    proxy.seen.length = 0
    hang('sick', ({ method }) => method === 'PATCH')
    // until the watch is on
    for (
      let round = 0;
      !proxy.seen.some(seen => seen.path === `${CONFIGMAPS}/sick` && seen.method === 'GET');
      round++
    ) {
      const contentType = 'application/merge-patch+json'
      await cluster.server.request('PATCH', `${CONFIGMAPS}/sick`, { data: { key: `${round}` } }, { contentType })
      await sleep(50)
    }
    const said = await push('2')
    expect(said.map(({ outcome }) => outcome)).toEqual(['failed', 'applied'])
    expect(await dataOf('well')).toBe('2')
    proxy.rule = undefined
    answered.resolve()
    await until(() => again > 0)
    await push('2')
    expect(await dataOf('sick')).toBe('1')
    await watched.close()
  })
})
