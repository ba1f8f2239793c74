import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsAt, jsonAt } from '../../src/cluster/json-at.ts'
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
