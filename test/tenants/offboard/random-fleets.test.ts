import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Tree } from '../../../src/git/tree.ts'
import { editedTree } from '../../../src/tenants/offboard/edited-tree.ts'
import { planOffboarding } from '../../../src/tenants/offboard/plan.ts'
import { findAssets, NO_ASSETS, NO_CONTROLLERS } from '../../../tools/envtest/assets.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { createPlatformAccount } from '../../cluster/cluster-under-test.ts'
import { definition } from '../../cluster/flux-kinds.ts'
import { until } from '../../workers/queue/until.ts'
import { fleetOnCluster } from './fleet-on-cluster.ts'
import { FLEET_URL, LAYOUTS, randomFleet } from './random-fleet.ts'

const missing = findAssets() ? (findAssets()!.controllerManager ? undefined : NO_CONTROLLERS) : NO_ASSETS
const CONTROLLERS = [
  ...['namespace-controller', 'garbage-collector-controller', 'persistentvolumeclaim-protection-controller'],
  ...['serviceaccount-controller', 'root-ca-certificate-publisher-controller'],
]
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** One of some layouts; OFFBOARDED_FLEETS=200 are all, with OFFBOARDED_FROM=60 those from the 60th. */
const [FROM, TO] = [process.env.OFFBOARDED_FROM ?? 0, process.env.OFFBOARDED_FLEETS ?? 0].map(Number) as [
  number,
  number,
]
const SEEDS = TO > 0 ? Array.from({ length: TO - FROM }, (_, index) => FROM + index) : [0, 4, 9]
/** What the tenant's Kustomizations apply, and they themselves. */
const WORKLOAD = /^(?:Kustomization|Deployment|Service|PersistentVolumeClaim) |^ConfigMap .*\/(?:app|jobs)$/
let attempts = 0

describe.skipIf(missing)(`random fleets on an API server with its controllers${missing ? ` (${missing})` : ''}`, () => {
  let server: TestCluster
  beforeAll(async () => {
    server = await startCluster({ controllers: CONTROLLERS })
    await createPlatformAccount(server)
    for (const [group, kind] of [
      ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
      ['source.toolkit.fluxcd.io', 'GitRepository'],
    ] as const) {
      await server.request('POST', CRDS, definition(group, kind))
      const path = `/apis/${group}/v1/${kind === 'Kustomization' ? 'kustomizations' : 'gitrepositories'}`
      await until(async () => (await server.request('GET', path)).status === 200)
    }
  }, 120_000)
  afterAll(() => server?.stop())

  test.each(SEEDS)(
    'fleet %i: no finalizer is left, everything of the tenant is gone, nothing of others was touched',
    async seed => {
      // each attempt has names of its own: a Namespace of the one before may still be going
      const fleet = randomFleet(seed, `f${attempts++}-`)
      const tenant = fleet.tenants[seed % fleet.tenants.length]!
      const cluster = tenant.clusters[seed % tenant.clusters.length]!
      const on = await fleetOnCluster(server, fleet, cluster)
      try {
        const first = treeOf(fleet.files)
        const [namespace] = tenant.namespaces
        const working = ['Deployment app', 'ConfigMap app', 'PersistentVolumeClaim data', 'Service app'].map(name =>
          name.replace(' ', ` ${namespace}/`),
        )
        await on.merged(first, tenant, names => working.every(name => names.includes(name)))
        if (seed % 2 === 1) await on.holdByFinalizers()
        const before = await on.others(tenant)
        const clusters = seed % 3 === 0 ? [cluster] : []
        const offboard = (tree: Tree): Tree => {
          const { files } = planOffboarding({ tenant: tenant.name, clusters }, tree, FLEET_URL, 'main')
          return editedTree(tree, new Map(files.map(({ path, content }) => [path, content])))
        }
        const middle = offboard(first)
        const left = await on.merged(middle, tenant, names => !names.some(name => WORKLOAD.test(name)))
        for (const kind of ['ServiceAccount', 'GitRepository'])
          expect(left).toContain(`${kind} ${namespace}/${tenant.name}`)
        await on.merged(offboard(middle), tenant, names => names.length === 0)
        expect(await on.others(tenant)).toEqual(before)
      } finally {
        await on.close()
      }
    },
    180_000,
  )

  if (process.env.OFFBOARDED_FLEETS)
    test('every layout was among them', () => {
      expect(new Set(SEEDS.map(seed => LAYOUTS[seed % LAYOUTS.length])).size).toBe(LAYOUTS.length)
    })
})
