import { expect, test } from 'vitest'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'

const missing = findAssets() ? undefined : NO_ASSETS
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

const crd = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** Everything of a cluster that tests change, but for what each write counts up. */
async function contentOf(cluster: TestCluster): Promise<unknown> {
  const paths = [ROLES, DEFINITIONS, '/api/v1/namespaces', '/api/v1/configmaps', '/apis', '/apis/example.com/v1/things']
  const bodies = await Promise.all(paths.map(async path => (await cluster.request('GET', path)).body))
  return JSON.parse(JSON.stringify(bodies, (key, value) => (key === 'resourceVersion' ? undefined : value)))
}

test('the next one has nothing of what was done to the one before', async ({ skip }) => {
  if (missing !== undefined) return skip(missing)
  const first = await startCluster({ workerRbac: false })
  const content = await contentOf(first)
  const { body: view } = await first.request('GET', `${ROLES}/view`)
  expect((await first.request('PUT', `${ROLES}/view`, { ...(view as object), rules: [] })).status).toBe(200)
  expect((await first.request('DELETE', `${ROLES}/edit`)).status).toBe(200)
  expect((await first.request('POST', DEFINITIONS, crd)).status).toBe(201)
  await first.request('POST', '/api/v1/namespaces', { metadata: { name: 'apps' } })
  await first.request('POST', '/api/v1/namespaces/apps/configmaps', { metadata: { name: 'kept' } })
  await expect.poll(() => contentOf(first).then(JSON.stringify), { timeout: 10_000 }).toContain('"name":"example.com"')
  await first.stop()
  const second = await startCluster({ workerRbac: false })
  expect(second.url).toBe(first.url)
  expect(await contentOf(second)).toEqual(content)
  await second.pause()
  await second.stop()
  const third = await startCluster({ workerRbac: false })
  expect(third.url, 'the second was killed').not.toBe(first.url)
  await third.stop()
})
