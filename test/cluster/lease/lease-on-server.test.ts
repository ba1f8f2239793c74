import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../../src/cluster/api-client.ts'
import { stringAt } from '../../../src/cluster/json.ts'
import { acquireLease, LeaseElection, leasedClient } from '../../../src/cluster/lease.ts'
import { binding, type ClusterUnderTest, haveAssets, startUnderTest } from '../cluster-under-test.ts'

const NAME = 'bailiwick-worker'
const PATH = `/apis/coordination.k8s.io/v1/namespaces/bailiwick-system/leases/${NAME}`
const timing = { duration: 35_000, renewDeadline: 30_000, retry: 100 }
const never = new AbortController().signal

describe.skipIf(!haveAssets())('a Lease on a real API server', () => {
  let under: ClusterUnderTest
  beforeAll(async () => {
    under = await startUnderTest()
  })
  afterAll(() => under?.stop())

  test('is created, renewed and released with the rights of deploy/worker-rbac.yaml', async () => {
    const { server, client } = under
    const lease = await acquireLease(client, { name: NAME, identity: 'a', timing }, never)
    const { body: taken } = await server.request('GET', PATH)
    expect(taken).toMatchObject({ spec: { holderIdentity: 'a', leaseDurationSeconds: 35, leaseTransitions: 0 } })
    await expect
      .poll(async () => stringAt((await server.request('GET', PATH)).body, 'spec', 'renewTime'))
      .not.toBe(stringAt(taken, 'spec', 'renewTime'))
    const other = new LeaseElection(client, { name: NAME, identity: 'b', timing })
    expect(await other.attempt(never)).toBe(false)
    await lease.release()
    expect(await other.attempt(never)).toBe(true)
    expect((await server.request('GET', PATH)).body).toMatchObject({
      spec: { holderIdentity: 'b', leaseTransitions: 1 },
    })
  })

  test('of two that write at once one loses', async () => {
    const { server, client } = under
    await server.request('DELETE', PATH)
    const candidates = ['a', 'b', 'c'].map(identity => new LeaseElection(client, { name: NAME, identity, timing }))
    const won = await Promise.all(candidates.map(one => one.attempt(never)))
    expect(won.filter(Boolean)).toHaveLength(1)
  })

  test('the API server itself ends a write whose time is over', async () => {
    const { server } = under
    const path = '/api/v1/namespaces/bailiwick-system/configmaps?timeout=1us'
    // it answers 504, or closes the connection where even that would be late
    const answer = server.request('POST', path, { metadata: { name: 'late' } })
    expect([504, 'closed']).toContain(
      await answer.then(
        ({ status }) => status,
        () => 'closed',
      ),
    )
    expect((await server.request('GET', '/api/v1/namespaces/bailiwick-system/configmaps/late')).status).toBe(404)
  })

  test('a write of the holder goes through, with its time in the request', async () => {
    const { server } = under
    const client = await connect(binding('staging', server.adminKubeconfig))
    try {
      await server.request('DELETE', PATH)
      const lease = await acquireLease(client, { name: NAME, identity: 'a', timing }, never)
      const path = '/api/v1/namespaces/bailiwick-system/configmaps'
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'in-time' } }
      expect((await leasedClient(client, lease).request('worker', 'POST', path, { body })).status).toBe(201)
      await lease.release()
    } finally {
      client.close()
    }
  })
})
