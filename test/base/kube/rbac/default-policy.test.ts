import { afterAll, beforeAll, expect, test } from 'vitest'
import { scopeOf } from '../../../../src/kube/capabilities/scope.ts'
import table from '../../../../src/kube/rbac/default-policy.json' with { type: 'json' }
import { resourceOf, SHORT_NAMES } from '../../../../src/kube/rbac/resources.ts'
import { findAssets, NO_ASSETS } from '../../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../../tools/envtest/start.ts'
import { bootstrappedPolicy } from './bootstrapped-policy.ts'

const missing = findAssets() ? undefined : NO_ASSETS
let cluster: TestCluster
let everything: TestCluster

beforeAll(async () => {
  if (missing !== undefined) return console.warn(missing)
  cluster = await startCluster({ workerRbac: false })
  // alpha APIs are served only on demand, but a fleet may hold their objects
  everything = await startCluster({ workerRbac: false, flags: ['--runtime-config=api/all=true'] })
})
afterAll(async () => {
  await cluster?.stop()
  await everything?.stop()
})

test('the table of default roles and bindings is what a real API server makes', async ({ skip }) => {
  if (missing !== undefined) return skip(missing)
  expect(table).toEqual(await bootstrappedPolicy(cluster))
})

interface Resource {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly namespaced: boolean
  readonly shortNames?: readonly string[]
}

async function discovered(): Promise<Resource[]> {
  const groups = (await everything.request('GET', '/apis')).body as unknown as {
    groups: { name: string; versions: { groupVersion: string }[] }[]
  }
  const paths = [
    { group: '', path: '/api/v1' },
    ...groups.groups.flatMap(({ name, versions }) =>
      versions.map(({ groupVersion }) => ({ group: name, path: `/apis/${groupVersion}` })),
    ),
  ]
  const lists = await Promise.all(
    paths.map(async ({ group, path }) => {
      const { body } = await everything.request('GET', path)
      const { resources } = body as unknown as { resources: Resource[] }
      return resources.filter(({ name }) => !name.includes('/')).map(resource => ({ ...resource, group }))
    }),
  )
  return lists.flat()
}

test('the resource and the scope of every kind that a real API server knows are right', async ({ skip }) => {
  if (missing !== undefined) return skip(missing)
  const resources = await discovered()
  const wrong = resources.filter(
    ({ group, kind, name }) => resourceOf(group ? `${group}/v1` : 'v1', kind, new Map()) !== name,
  )
  expect(wrong).toEqual([])
  expect(resources.length).toBeGreaterThan(60)
  const misplaced = resources.filter(
    ({ group, kind, namespaced }) =>
      scopeOf(group ? `${group}/v1` : 'v1', kind, new Map()) !== (namespaced ? 'Namespaced' : 'Cluster'),
  )
  expect(misplaced).toEqual([])
  const short = resources.flatMap(({ group, name, shortNames = [] }) =>
    shortNames.map(one => `${one} ${group}/${name}`),
  )
  const ours = [...SHORT_NAMES]
    .map(pair => pair.join(' '))
    .filter(text => !/fluxcd\.(?:io|controlplane\.io)\//.test(text))
  expect(ours.filter(text => !short.includes(text))).toEqual([])
})
