import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BailiwickError, type ErrorCode } from '../../src/base/errors.ts'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { clusterError, clusterIsReady, failureScope, nodeFailure } from '../../src/cluster/cluster-error.ts'
import { binding, type ClusterUnderTest, haveAssets, startUnderTest } from './cluster-under-test.ts'
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts'

describe('failureScope', () => {
  test.each<[number, string]>([
    [400, 'object'],
    [403, 'object'],
    [405, 'object'],
    [409, 'object'],
    [413, 'object'],
    [422, 'object'],
    [500, 'object'],
    [408, 'node'],
    [429, 'node'],
    [502, 'node'],
    [503, 'node'],
    [504, 'node'],
    [401, 'cluster'],
  ])('an answer with status %i stops the %s', (status, scope) => {
    expect(failureScope(clusterError('staging', status, {}))).toBe(scope)
  })

  test.each<[ErrorCode, string]>([
    ['cluster-unavailable', 'node'],
    ['internal', 'node'],
    ['cluster-fenced', 'cluster'],
    ['cluster-controller-active', 'cluster'],
    ['config', 'cluster'],
  ])('%s stops the %s', (code, scope) => {
    expect(failureScope(new BailiwickError(code, 'x'))).toBe(scope)
  })

  test('a bug stops the node that met it', () => {
    expect(failureScope(new RangeError('Maximum call stack size exceeded'))).toBe('node')
  })
})

describe.skipIf(!haveAssets())('what ends a run', () => {
  let cluster: ClusterUnderTest
  let proxy: FaultProxy
  let client: ClusterClient
  const outage = new BailiwickError('cluster-unavailable', 'no answer in 30 s')
  const probes = () => proxy.seen.filter(({ path }) => path === '/readyz')

  beforeAll(async () => {
    cluster = await startUnderTest()
    proxy = await startFaultProxy(cluster.server)
  })
  afterAll(async () => {
    await proxy?.close()
    await cluster?.stop()
  })
  afterEach(() => {
    client?.close()
    proxy.rule = undefined
    proxy.seen.length = 0
  })
  const open = async (timeoutMs = 30_000) => {
    client = await connect(binding('staging', proxy.kubeconfig), { timeoutMs })
  }

  test("an outage is the node's while the API server is ready, asked once for all as the worker", async () => {
    await open()
    const errors = await Promise.all(Array.from({ length: 20 }, () => nodeFailure(client, outage)))
    expect(errors.every(error => error === outage)).toBe(true)
    await nodeFailure(client, outage)
    expect(probes()).toEqual([expect.objectContaining({ method: 'GET', user: '' })])
  })

  test.each<[string, Fault]>([
    ['500', { status: 500, text: true }],
    ['503', { status: 503 }],
    ['a closed connection', 'reset'],
    ['half an answer', 'half'],
  ])('where /readyz answers with %s, the run ends', async (_what, fault) => {
    await open()
    proxy.rule = ({ path }) => (path === '/readyz' ? fault : undefined)
    expect(await clusterIsReady(client)).toBe(false)
    await expect(nodeFailure(client, outage)).rejects.toBe(outage)
  })

  test('the question does not wait behind requests that hang', async () => {
    await open(2_000)
    proxy.rule = ({ path }) => (path === '/readyz' ? undefined : 'hang')
    const stuck = Array.from({ length: 40 }, () => client.request('worker', 'GET', '/version').catch(error => error))
    expect(await clusterIsReady(client)).toBe(true)
    const first = await stuck[0]!
    expect(first).toMatchObject({ code: 'cluster-unavailable', message: expect.stringContaining('no answer in 2 s') })
    client.close()
    proxy.rule = () => 'reset'
    await Promise.all(stuck)
  })

  test('where the API server is gone, the run ends', async () => {
    await open()
    await cluster.server.pause()
    await expect(nodeFailure(client, outage)).rejects.toBe(outage)
    await cluster.server.resume()
  })

  test('what concerns an object or a node is never asked about; another worker, a stop and a bad token end the run', async () => {
    await open()
    const invalid = new BailiwickError('cluster-invalid', 'x')
    expect(await nodeFailure(client, invalid)).toBe(invalid)
    const bug = new TypeError('x is not a function')
    expect(await nodeFailure(client, bug)).toMatchObject({ code: 'internal', cause: bug })
    const fenced = new BailiwickError('cluster-fenced', 'x')
    await expect(nodeFailure(client, fenced)).rejects.toBe(fenced)
    await expect(nodeFailure(client, invalid, AbortSignal.abort())).rejects.toBe(invalid)
    const token = clusterError('staging', 401, {})
    await expect(nodeFailure(client, token)).rejects.toBe(token)
    expect(probes()).toEqual([])
  })

  test('priority and fairness slows the whole client down, a Status with 429 only its own request', async () => {
    await open()
    const asked = new Map<string, number[]>()
    let busy = { status: 429, retryAfter: 1, text: true }
    proxy.rule = ({ path }) => {
      const times = asked.get(path) ?? []
      asked.set(path, [...times, Date.now()])
      return path === '/apis/busy' && times.length === 0 ? busy : undefined
    }
    /** When the other one was sent, after the busy one. */
    const sendBoth = async () => {
      asked.clear()
      const first = client.request('worker', 'GET', '/apis/busy')
      while (!asked.has('/apis/busy')) await new Promise(resolve => setTimeout(resolve, 5))
      await new Promise(resolve => setTimeout(resolve, 100))
      await Promise.all([first, client.request('worker', 'GET', '/apis/other')])
      const [other, busy] = [asked.get('/apis/other')![0]!, asked.get('/apis/busy')!]
      return { waited: other - busy[0]!, beforeRetry: other < busy[1]! }
    }
    expect((await sendBoth()).waited).toBeGreaterThan(900)
    busy = { ...busy, text: false }
    expect((await sendBoth()).beforeRetry).toBe(true)
  })
})
