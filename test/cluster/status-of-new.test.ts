import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BailiwickError } from '../../src/base/errors.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { itemsAt, jsonAt } from '../../src/cluster/json.ts'
import { applyApproved } from '../../workers/apply/apply-approved.ts'
import { approvedNode, approvedOf, keyOf } from './approved-node.ts'
import {
  type ClusterUnderTest,
  configMap,
  create,
  createPlatformAccount,
  createTenant,
  get,
  haveAssets,
  startUnderTest,
} from './cluster-under-test.ts'
import { installKustomizations } from './flux-kinds.ts'

const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/apps/kustomizations'
const MERGE = { contentType: 'application/merge-patch+json' }

describe.skipIf(!haveAssets())('a Kustomization that its parent makes', () => {
  let under: ClusterUnderTest
  let user: string
  let platform: string
  beforeAll(async () => {
    under = await startUnderTest()
    user = await createTenant(under.server, 'apps', 'dev-team')
    platform = await createPlatformAccount(under.server)
    await installKustomizations(under.server)
  })
  afterAll(() => under?.stop())

  const kustomization = (name: string) => ({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name, namespace: 'apps' },
    spec: { interval: '1h', prune: true },
  })

  test('shows its status and has its finalizer in the run that makes it', async () => {
    await create(under.server, KUSTOMIZATIONS, kustomization('parent'))
    const nodes = [
      approvedNode(platform, 'parent', [kustomization('child')], { tenant: null }),
      approvedNode(user, 'child', [configMap('apps', 'child')], { parent: keyOf('parent') }),
    ]
    const said = await applyApproved(under.client, approvedOf(nodes), AbortSignal.timeout(60_000))
    expect(said.map(({ outcome, note }) => [outcome, note])).toEqual([
      ['applied', undefined],
      ['applied', undefined],
    ])
    const child = (await get(under.server, `${KUSTOMIZATIONS}/child`)) ?? null
    expect(itemsAt(child, 'status', 'conditions')).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'True' }),
    )
    expect(jsonAt(child, 'metadata', 'finalizers')).toEqual(['finalizers.fluxcd.io'])
  })

  test('shows why it is held in the run that makes it', async () => {
    await create(under.server, KUSTOMIZATIONS, kustomization('holder'))
    const parent = approvedNode(platform, 'holder', [kustomization('held')], { tenant: null })
    const held = { ...approvedNode(user, 'held', []), findings: [], failures: [], hides: [], refused: [] }
    const approved = approvedOf([parent])
    const all = { ...approved, nodes: [...approved.nodes, held], held: [{ node: held.key, reason: 'it is red' }] }
    await applyApproved(under.client, all, AbortSignal.timeout(60_000))
    expect(itemsAt((await get(under.server, `${KUSTOMIZATIONS}/held`)) ?? null, 'status', 'conditions')).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'NotApproved', message: 'it is red' }),
    )
  })

  test.each<[string, Awaited<ReturnType<ClusterUnderTest['client']['request']>> | BailiwickError]>([
    ['not answered', new BailiwickError('cluster-unavailable', 'no answer in 30 s')],
    ['the 404 of a load balancer', { status: 404, body: { message: 'not here' } }],
  ])('is not applied where nobody knows whether it is suspended: the list is %s', async (_, answer) => {
    await under.server.request('PATCH', `${KUSTOMIZATIONS}/child?fieldManager=flux`, { spec: { suspend: true } }, MERGE)
    const client: ClusterClient = {
      ...under.client,
      async request(actor, method, path, options) {
        if (!path.endsWith('/v1/kustomizations')) return under.client.request(actor, method, path, options)
        if (answer instanceof Error) throw answer
        return answer
      },
    }
    const changed = approvedNode(user, 'child', [configMap('apps', 'child', { key: 'other' })])
    const said = applyApproved(client, approvedOf([changed]), AbortSignal.timeout(60_000))
    await expect(said).rejects.toMatchObject({ code: 'cluster-unavailable' })
    expect(jsonAt(await get(under.server, '/api/v1/namespaces/apps/configmaps/child'), 'data', 'key')).toBe('value')
  })

  test('and one that the cluster does not have says so', async () => {
    const said = await applyApproved(
      under.client,
      approvedOf([approvedNode(user, 'nowhere', [configMap('apps', 'nowhere')])]),
      AbortSignal.timeout(60_000),
    )
    expect(said).toMatchObject([
      { outcome: 'applied', note: 'its status is not shown: the cluster has no Kustomization apps/nowhere' },
    ])
  })
})
