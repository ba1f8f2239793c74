import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { itemsAt, jsonAt, stringAt } from '../../../src/cluster/json.ts'
import type { ApprovedNode } from '../../../src/verdict/approve.ts'
import { applyApproved } from '../../../workers/apply/apply-approved.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import { RevisionQueue } from '../../../workers/apply/status-board.ts'
import { approvedNode, approvedOf } from '../approved-node.ts'
import {
  type ClusterUnderTest,
  configMap,
  create,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from '../cluster-under-test.ts'
import { installKustomizations } from '../flux-kinds.ts'

const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/apps/kustomizations'
const NAMES = ['one', 'two', 'three']

describe.skipIf(!haveAssets())('a push that changes nothing but the revision, on a real API server', () => {
  let cluster: ClusterUnderTest
  let client: ClusterClient
  let user: string
  let writes: string[]

  beforeAll(async () => {
    cluster = await startUnderTest()
    await installKustomizations(cluster.server)
    user = await createTenant(cluster.server, 'apps', 'dev-team')
    for (const name of NAMES) {
      await create(cluster.server, KUSTOMIZATIONS, {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        kind: 'Kustomization',
        metadata: { namespace: 'apps', name },
        spec: { interval: '1h', prune: true, path: './', sourceRef: { kind: 'GitRepository', name: 'apps' } },
      })
    }
    client = {
      ...cluster.client,
      request(actor, method, path, options) {
        if (method !== 'GET') writes.push(`${method} ${path.split('/').slice(-2).join('/')}`)
        return cluster.client.request(actor, method, path, options)
      },
    }
  })
  afterAll(() => cluster?.stop())

  const revisionOf = async (name: string) =>
    stringAt(await get(cluster.server, `${KUSTOMIZATIONS}/${name}`), 'status', 'lastAppliedRevision')
  const push = (memory: ClusterMemory, commit: string, changed?: string) => {
    writes = []
    const nodes = NAMES.map((name): ApprovedNode => {
      const node = approvedNode(user, name, [configMap('apps', name, { key: name === changed ? commit : 'value' })])
      return { ...node, source: { ...node.source, commit, revision: `main@sha1:${commit}` } }
    })
    return applyApproved(client, approvedOf(nodes), AbortSignal.timeout(60_000), memory)
  }

  test('is written after the run, once for each Kustomization, and by another process where this one ends', async () => {
    const held = Promise.withResolvers<void>()
    const queue = new RevisionQueue({ pause: () => held.promise })
    const memory = new ClusterMemory({ revisions: queue })
    const first = await push(memory, 'a')
    expect(first.map(({ note }) => note)).toEqual([undefined, undefined, undefined])
    // what was applied is shown in the run
    for (const name of NAMES) expect(await revisionOf(name)).toBe('main@sha1:a')

    expect((await push(memory, 'b')).map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied'])
    await push(memory, 'c', 'three')
    expect(await revisionOf('three')).toBe('main@sha1:c')
    expect(await revisionOf('two')).toBe('main@sha1:a')
    held.resolve()
    await queue.idle()
    for (const name of NAMES) expect(await revisionOf(name)).toBe('main@sha1:c')
    const live = await get(cluster.server, `${KUSTOMIZATIONS}/two`)
    expect(itemsAt(live ?? null, 'status', 'history').map(one => jsonAt(one, 'totalReconciliations'))).toEqual([2])
    expect(writes.filter(write => write === 'PATCH two/status')).toHaveLength(1)

    const never = new ClusterMemory({ revisions: new RevisionQueue({ pause: () => new Promise(() => {}) }) })
    await push(never, 'd')
    await never.close()
    await memory.close()
    const other = new RevisionQueue({ perSecond: 1000 })
    const next = new ClusterMemory({ revisions: other })
    await push(next, 'd')
    await other.idle()
    for (const name of NAMES) expect(await revisionOf(name)).toBe('main@sha1:d')
    await next.close()
  })
})
