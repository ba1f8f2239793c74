import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BailiwickError } from '../../../src/base/errors.ts'
import { RESULT_LIMITS } from '../../../src/cluster/channel/apply-results.ts'
import type { ClusterWork } from '../../../src/cluster/channel/cluster-work.ts'
import { MemoryTtlStore } from '../../../src/surface/pages/ttl-store.ts'
import { WORK_LIMITS, WorkStore } from '../../../src/surface/pages/work-store.ts'
import { ClusterDoor } from '../../../src/surface/web/cluster-door.ts'
import { startServer, type WebServer } from '../../../src/surface/web/server.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'

const KEYS: Readonly<Record<string, readonly string[]>> = {
  a: ['a'.repeat(32)],
  // one replaces the other
  b: ['b'.repeat(32), 'B'.repeat(32)],
}

const work = (cluster: string): ClusterWork => ({
  cluster,
  engine: '5',
  fleet: { url: 'https://github.com/acme/fleet', branch: 'main', commit: '1'.repeat(40) },
  revisionSet: `set-of-${cluster}`,
  repositories: [],
  heads: [],
  artifacts: [],
  parents: [],
  adopted: [],
  names: [],
  nodes: [],
  apply: [],
  held: [],
  waiting: [],
  prunes: { share: 30, atLeast: 10, approved: [] },
})
const results = { revisionSet: 'set-of-a', isRunning: false, applied: [] as unknown[], retries: [], drift: [] }
const node = { key: 'a/apps/team', user: 'u', outcome: 'applied', objects: [] as unknown[] }

describe('what the worker of a cluster may ask of the web process', () => {
  let server: WebServer
  let store: WorkStore
  let told: string[]
  let said: string[]
  let unreadable: string
  let turn: Promise<unknown> = Promise.resolve()
  beforeEach(async () => {
    store = new WorkStore(new MemoryTtlStore(WORK_LIMITS))
    told = []
    said = []
    unreadable = ''
    for (const cluster of ['a', 'b']) await store.offer(cluster, { installation: 1, work: work(cluster) })
    const clusters = new ClusterDoor({
      store,
      keysOf: cluster => {
        if (cluster === unreadable) throw new BailiwickError('config', 'worker.key cannot be read')
        return Object.hasOwn(KEYS, cluster) ? KEYS[cluster] : undefined
      },
      tokens: async () => [{ token: 't', expiresAt: '2030-01-01T00:00:00Z', repositories: [1] }],
      withLock: (_key, work) => {
        const mine = turn.then(() => work(1))
        turn = mine.catch(() => {})
        return mine
      },
      onResults: async cluster => void told.push(cluster),
      log: { ...silentLog, error: ({ err }: { err: Error }) => void said.push(err.message) } as typeof silentLog,
    })
    server = await startServer({ host: '127.0.0.1', port: 0, clusters, ready: async () => {}, log: silentLog })
  })
  afterEach(() => server.close(0))

  const ask = (path: string, key: string, init: RequestInit = {}) =>
    fetch(`${server.url}/api/clusters/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) },
    })
  const report = (cluster: string, key: string, body: unknown) =>
    ask(`${cluster}/results`, key, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })

  test('each key opens its own cluster, and an old and a new one the same', async () => {
    for (const [cluster, keys] of Object.entries(KEYS)) {
      for (const key of keys) {
        const response = await ask(`${cluster}/work`, key)
        expect(await response.json()).toMatchObject({ cluster, revisionSet: `set-of-${cluster}` })
      }
    }
  })

  test.each([
    ['b/work', 'GET'],
    ['b/tokens', 'POST'],
    ['b/results', 'POST'],
    ['moon/work', 'GET'],
    ['constructor/work', 'GET'],
    ['__proto__/work', 'GET'],
  ])('the key of another cluster opens nothing: %s', async (path, method) => {
    const body = method === 'POST' ? { body: JSON.stringify(results) } : {}
    const response = await ask(path, KEYS.a![0]!, { method, ...body })
    expect([401, 404]).toContain(response.status)
    expect(await store.reported('b')).toBeUndefined()
    expect(told).toEqual([])
  })

  test.each(['', 'a', 'a'.repeat(31), 'a'.repeat(33), 'A'.repeat(32), `${'a'.repeat(32)} `, 'undefined'])(
    'no other key opens anything: %j',
    async key => {
      const responses = await Promise.all([ask('a/work', key), ask('moon/work', key)])
      const isExact = key.trim() === KEYS.a![0]
      expect(responses.map(({ status }) => status)).toEqual([isExact ? 200 : 401, 401])
    },
  )

  test('a key file that cannot be read at the moment is said once, and opens nothing', async () => {
    for (const round of [1, 2]) {
      unreadable = 'a'
      for (const key of ['', KEYS.a![0]!, KEYS.b![0]!]) {
        const response = await ask('a/work', key)
        expect(response.status).toBe(503)
        expect(await response.text()).toContain('the key of this cluster cannot be read at the moment')
      }
      expect((await ask('b/work', KEYS.b![0]!)).status).toBe(200)
      expect(said).toEqual(Array(round).fill('worker.key cannot be read'))
      unreadable = ''
      expect((await ask('a/work', KEYS.a![0]!)).status).toBe(200)
    }
  })

  test('a path leads out of no cluster, and other methods do nothing', async () => {
    const key = KEYS.a![0]!
    for (const path of ['a/../b/work', 'a%2f..%2fb/work', 'a/work/', 'a/tokens/x', 'b%00/work', 'A/work'])
      expect([401, 404], path).toContain((await ask(path, key)).status)
    for (const [path, method] of [
      ['a/work', 'POST'],
      ['a/tokens', 'GET'],
      ['a/results', 'GET'],
      ['a/results', 'DELETE'],
    ] as const)
      expect((await ask(path, key, { method })).status, `${method} ${path}`).toBe(405)
  })

  test('what did not change is not sent again', async () => {
    const key = KEYS.a![0]!
    const etag = (await ask('a/work', key)).headers.get('etag')!
    expect((await ask('a/work', key, { headers: { 'if-none-match': etag } })).status).toBe(304)
    await store.offer('a', { installation: 1, work: { ...work('a'), revisionSet: 'next' } })
    expect((await ask('a/work', key, { headers: { 'if-none-match': etag } })).status).toBe(200)
  })

  test('results are those of the cluster of the key, whatever they say', async () => {
    expect((await report('a', KEYS.a![0]!, { ...results, cluster: 'b', applied: [node] })).status).toBe(202)
    expect(await store.reported('a')).toEqual({ ...results, applied: [node] })
    expect(await store.reported('b')).toBeUndefined()
    expect(told).toEqual(['a'])
  })

  const send = (cluster: string, body: object, condition: Record<string, string> = { 'if-none-match': '*' }) =>
    ask(`${cluster}/results`, KEYS[cluster]![0]!, { method: 'POST', body: JSON.stringify(body), headers: condition })
  const running = (progress: number) => ({ ...results, isRunning: true, applied: Array(progress).fill(node) })

  test('a report that was sent before the last one was taken does not take its place', async () => {
    const first = await send('a', results)
    const tag = first.headers.get('etag')!
    const second = await send('a', { ...results, failure: 'newer' }, { 'if-match': tag })
    expect([first.status, second.status]).toEqual([202, 202])
    for (const late of [{ 'if-match': tag }, { 'if-none-match': '*' }, {}, { 'if-match': 'x' }, { 'if-match': '*' }]) {
      const answered = await send('a', results, late as Record<string, string>)
      expect(answered.status).toBe(412)
      // the present one is sent with this
      expect(answered.headers.get('etag')).toBe(second.headers.get('etag'))
    }
    expect(await store.reported('a')).toMatchObject({ failure: 'newer' })
    expect(told).toEqual(['a', 'a'])
  })

  test('of two reports that come at once one is taken', async () => {
    const tag = (await send('a', results)).headers.get('etag')!
    const both = [1, 0].map(number => send('a', running(number), { 'if-match': tag }))
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([202, 412])
  })

  test.each([
    ['never given', 'set-of-c'],
    ['given to another cluster', 'set-of-b'],
    ['given before', 'set-before'],
  ])('results of a revision set that was %s are not taken', async (_what, revisionSet) => {
    await store.offer('a', { installation: 1, work: { ...work('a'), revisionSet: 'set-before' } })
    const tag = (await send('a', { ...results, revisionSet: 'set-before' })).headers.get('etag')!
    await store.offer('a', { installation: 1, work: work('a') })
    const answered = await send('a', { ...results, revisionSet }, { 'if-match': tag })
    expect(answered.status).toBe(409)
    expect(await store.reported('a')).toMatchObject({ revisionSet: 'set-before' })
    expect((await send('a', results, { 'if-match': tag })).status).toBe(202)
  })

  test.each([
    ['no JSON', '{'],
    ['no map', '[]'],
    ['null', 'null'],
    ['no list', { ...results, applied: {} }],
    ['no revision set', { applied: [] }],
    ['a revision set of a kilobyte', { ...results, revisionSet: 'x'.repeat(1000) }],
    ['another outcome', { ...results, applied: [{ ...node, outcome: 'approved' }] }],
    ['a key of no node', { ...results, applied: [{ ...node, key: 'a' }] }],
    ['a key of many lines', { ...results, applied: [{ ...node, key: 'a/b/c\nd' }] }],
    [
      'an inherited field',
      JSON.stringify({ ...results, applied: [node] }).replace('"user":"u"', '"__proto__":{"user":"u"}'),
    ],
    ['an unknown action', { ...results, applied: [{ ...node, objects: [{ object: {}, action: 'stolen' }] }] }],
    ['a reason that is no text', { ...results, applied: [{ ...node, reason: { toString: 'x' } }] }],
    ['a reason of a megabyte', { ...results, applied: [{ ...node, reason: 'x'.repeat(1_000_000) }] }],
    ['too many nodes', { ...results, applied: Array(50_001).fill(node) }],
    ['too many objects', { ...results, applied: [{ ...node, objects: Array(200_001).fill(0) }] }],
    ['a deep nest', '['.repeat(200_000)],
  ])('malformed results are refused whole: %s', async (_what, body) => {
    const response = await report('a', KEYS.a![0]!, body)
    expect(response.status).toBe(400)
    expect((await response.text()).length).toBeLessThan(300)
    expect(await store.reported('a')).toBeUndefined()
    expect(told).toEqual([])
  })

  test('a cluster that reports without end is told to wait, and takes nothing from another one', async () => {
    const statuses: number[] = []
    while (!statuses.includes(429) && statuses.length < 500) statuses.push((await send('a', running(0))).status)
    expect(statuses.indexOf(429)).toBeGreaterThanOrEqual(20)
    expect((await send('b', { ...results, revisionSet: 'set-of-b' })).status).toBe(202)
    // what it asks for is counted by itself
    expect((await ask('a/work', KEYS.a![0]!)).status).toBe(200)
  })

  test('results larger than the limit are not read', async () => {
    const response = await report('a', KEYS.a![0]!, 'x'.repeat(RESULT_LIMITS.bytes + 1))
    expect(response.status).toBe(413)
  })
})
