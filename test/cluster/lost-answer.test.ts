import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connect } from '../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { claim, newInventory, readInventories } from '../../src/cluster/inventory.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import { approvedNode, approvedOf } from './approved-node.ts'
import {
  binding,
  type ClusterUnderTest,
  configMap,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'
import { type Fault, type FaultProxy, type Seen, startFaultProxy } from './fault-proxy.ts'

const USER = 'system:serviceaccount:apps:dev-team'
const isInventory = ({ path, method }: Seen) =>
  path.startsWith('/api/v1/namespaces/bailiwick-system/configmaps') && ['POST', 'PUT'].includes(method)

describe.skipIf(!haveAssets())('the answer to the write of an inventory is lost', () => {
  let cluster: ClusterUnderTest
  let proxy: FaultProxy
  let client: ClusterClient
  let user: string
  let round = 0

  beforeAll(async () => {
    cluster = await startUnderTest()
    user = await createTenant(cluster.server, 'apps', 'dev-team')
    proxy = await startFaultProxy(cluster.server)
    client = await connect(binding('staging', proxy.kubeconfig), { timeoutMs: 1500 })
  })
  afterAll(async () => {
    client?.close()
    await proxy?.close()
    await cluster?.stop()
  })
  afterEach(() => {
    proxy.rule = undefined
  })

  const fresh = () => newInventory('staging', `staging/apps/lost-${++round}`, USER)
  /** The first so many requests that match meet the fault. */
  const meet = (count: number, matches: (seen: Seen) => boolean, fault: Fault) => {
    let left = count
    proxy.rule = seen => (matches(seen) && left-- > 0 ? fault : undefined)
  }
  const stored = async (node: string) => (await readInventories(cluster.client)).find(one => one.node === node)

  test.each(['lost', 'half'] as const)('%s: it is read again, and recognized as our own', async fault => {
    const before = fresh()
    meet(1, isInventory, fault)
    const first = await claim(client, before, { digest: 'a' })
    expect(await stored(before.node)).toEqual(first)
    // on a kept connection it is sent twice, and the second one meets the first
    meet(2, isInventory, fault)
    const second = await claim(client, first, { digest: 'b' })
    expect(await stored(before.node)).toEqual(second)
    expect(second).toMatchObject({ digest: 'b' })
  })

  test('what arrives after we stopped waiting is our own as well; what another worker wrote is not', async () => {
    const first = await claim(client, fresh())
    proxy.rule = seen => (isInventory(seen) ? 'lost' : seen.path.includes('/configmaps/') ? 'reset' : undefined)
    await expect(claim(client, first, { digest: 'late' })).rejects.toMatchObject({ code: 'cluster-unavailable' })
    proxy.rule = undefined
    const again = await claim(client, first, { digest: 'again' })
    expect(await stored(first.node)).toEqual(again)

    proxy.rule = seen => (seen.path.includes('/configmaps/') ? 'reset' : undefined)
    await expect(claim(client, again, { digest: 'never' })).rejects.toMatchObject({ code: 'cluster-unavailable' })
    proxy.rule = undefined
    const other = await claim(cluster.client, again, { digest: 'theirs' })
    await expect(claim(client, again, { digest: 'ours' })).rejects.toMatchObject({ code: 'cluster-fenced' })
    meet(1, isInventory, 'lost')
    await expect(claim(client, again, { digest: 'ours' })).rejects.toMatchObject({ code: 'cluster-fenced' })
    expect(await stored(first.node)).toEqual(other)
  })

  test.each([1, 2])('a run goes on where the answer to write %i of a node is lost', async nth => {
    const name = `node-${++round}`
    let seen = 0
    proxy.rule = one => (isInventory(one) && ++seen === nth ? 'lost' : undefined)
    const approved = approvedOf([approvedNode(user, name, [configMap('apps', name)])])
    const said = await applyApproved(client, approved, AbortSignal.timeout(30_000))
    expect(said.map(({ outcome, reason }) => [outcome, reason])).toEqual([['applied', undefined]])
    expect(await get(cluster.server, `/api/v1/namespaces/apps/configmaps/${name}`)).toBeDefined()
    expect(await stored(`staging/apps/${name}`)).toMatchObject({ settled: true })
  })
})
