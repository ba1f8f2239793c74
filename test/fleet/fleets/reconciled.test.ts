import { afterEach, describe, expect, test } from 'vitest'
import type { FleetInput } from '../../../src/fleet/model/input.ts'
import type { AppliedNode } from '../../../src/report/apply-report.ts'
import { WatchedCluster } from '../../../workers/apply/watched-cluster.ts'
import {
  type ClusterUnderTest,
  createPlatformAccount,
  haveAssets,
  startUnderTest,
} from '../../cluster/cluster-under-test.ts'
import { inputOf } from '../fleet-of.ts'
import { readFolder, sharedFleetsPresent } from '../read-folder.ts'
import { type Capsule, startCapsule } from './be-capsule.ts'
import { fleetFiles, fleetRepositories } from './read-fleet.ts'
import { approvedOfFleet, bootstrap, readiness, runOthers } from './reconciled-fleet.ts'

/** Bailiwick is in its place. */
const WITHOUT_CONTROLLER = `
  - target: {kind: Deployment, name: kustomize-controller}
    patch: '[{"op": "add", "path": "/spec/replicas", "value": 0}]'
`
/** Until all is as it stays; some of it may never be ready. */
const MAX_RUNS = 12

describe.skipIf(!haveAssets())('a whole fleet in mode reconcile, after its bootstrap', () => {
  let under: ClusterUnderTest
  let capsule: Capsule | undefined
  afterEach(async () => {
    await capsule?.stop()
    capsule = undefined
    await under?.stop()
  })

  /** Runs until a run changes nothing: how each Kustomization ended. */
  async function reconciled(
    input: FleetInput,
    cluster: string,
    { verified = 'True', hasCapsule = false }: { verified?: 'True' | 'False'; hasCapsule?: boolean } = {},
  ): Promise<Record<string, string>> {
    under = await startUnderTest(cluster)
    const { server, client } = under
    if (hasCapsule) capsule = await startCapsule(server)
    const approved = approvedOfFleet(input, cluster, capsule?.kubeConfigs)
    await createPlatformAccount(server)
    await bootstrap(server, approved)
    const stop = new AbortController()
    const others = Promise.all([runOthers(server, approved, stop.signal, verified), capsule?.run(stop.signal)])
    let calls = 0
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const hour = 3_600_000
    const again = () => calls++
    const more = { kubeConfigs: capsule?.kubeConfigs, log, again }
    const worker = new WatchedCluster({ client, drift: 'poll', fullPassMs: hour, pollMs: hour, ...more })
    let said: AppliedNode[] = []
    for (let run = 0; run < MAX_RUNS; run++) {
      const asked = calls
      said = await worker.run(approved, AbortSignal.timeout(120_000))
      const isWaiting = said.some(({ reason }) => reason === 'its health checks still run')
      for (let tick = 0; isWaiting && calls === asked && tick < 150; tick++)
        await new Promise(resolve => setTimeout(resolve, 100))
      const hasFailed = verified === 'True' && said.some(({ outcome }) => outcome === 'failed')
      if (calls === asked && !hasFailed) break
      // a busy server, or what others have yet to make
      if (hasFailed) await new Promise(resolve => setTimeout(resolve, 500))
    }
    stop.abort()
    await others
    await worker.close()
    const refused = said.flatMap(({ objects }) => objects.filter(({ action }) => action === 'refused'))
    expect(refused).toEqual([])
    return await readiness(server, approved)
  }

  test.each(['staging', 'production'])(
    'acme/fleet on %s',
    async cluster => {
      const { 'acme/fleet': fleet, 'acme/dev-team': dev, 'acme/ops-team': ops } = fleetRepositories
      const input = inputOf({
        url: fleet.url,
        fleet: fleetFiles('acme/fleet'),
        sources: [
          { url: dev.url, ref: { branch: 'main' }, files: fleetFiles('acme/dev-team') },
          { url: ops.url, ref: { branch: 'main' }, files: fleetFiles('acme/ops-team') },
        ],
      })
      expect(await reconciled(input, cluster)).toEqual({
        'flux-system/flux-system': 'Ready',
        'flux-system/infrastructure': 'Ready',
        'flux-system/sandbox-limits': 'Ready',
        'flux-system/tenants': 'Ready',
        'apps/dev-team': 'Ready',
      })
    },
    120_000,
  )

  const referenceFleet = (): FleetInput => {
    const url = 'https://github.com/fluxcd/flux2-multi-tenancy'
    const given = inputOf({
      url,
      fleet: readFolder('flux2-multi-tenancy/fleet'),
      sources: [
        { url, ref: { branch: 'dev-team' }, files: readFolder('flux2-multi-tenancy/dev-team') },
        {
          url: 'oci://ghcr.io/kyverno/manifests/kyverno',
          ref: { registry: { tag: 'v1.14.4' } },
          commit: `sha256:${'d'.repeat(64)}`,
          files: { 'kyverno.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: kyverno}\n' },
        },
      ],
    })
    return { ...given, registries: ['ghcr.io'] }
  }

  test.runIf(sharedFleetsPresent())(
    'fluxcd/flux2-multi-tenancy: what source-controller did not verify is not applied, and said',
    async () => {
      expect(await reconciled(referenceFleet(), 'staging', { verified: 'False' })).toEqual({
        'flux-system/flux-system': 'Ready',
        'flux-system/kyverno': 'Progressing: Reconciliation in progress',
        'flux-system/kyverno-controller': expect.stringContaining(
          'is not verified: source-controller did not accept its signature',
        ),
        'flux-system/kyverno-policies': "DependencyNotReady: dependency 'flux-system/kyverno' is not ready",
        'flux-system/tenants': "DependencyNotReady: dependency 'flux-system/kyverno-policies' is not ready",
      })
    },
    120_000,
  )

  test.runIf(sharedFleetsPresent()).each(['staging', 'production'])(
    'fluxcd/flux2-multi-tenancy on %s',
    async cluster => {
      expect(await reconciled(referenceFleet(), cluster)).toEqual({
        'flux-system/flux-system': 'Ready',
        'flux-system/kyverno': 'Ready',
        'flux-system/kyverno-controller': 'Ready',
        'flux-system/kyverno-policies': 'Ready',
        'flux-system/tenants': 'Ready',
        'apps/dev-team': 'Ready',
      })
    },
    120_000,
  )

  const capsuleFleet = (): FleetInput => {
    const url = 'https://github.com/clastix/flux2-capsule-multi-tenancy'
    const fleet = readFolder('flux2-capsule-multi-tenancy/fleet')
    const list = 'clusters/staging/flux-system/kustomization.yaml'
    return inputOf({
      url,
      fleet: { ...fleet, [list]: `${fleet[list]}${WITHOUT_CONTROLLER}` },
      sources: [{ url, ref: { branch: 'dev-team' }, files: readFolder('flux2-capsule-multi-tenancy/dev-team') }],
    })
  }
  const platform = {
    'flux-system/flux-system': 'Ready',
    'flux-system/capsule': 'Ready',
    'flux-system/capsule-proxy': 'Ready',
    'flux-system/tenants': 'Ready',
  }

  test.runIf(sharedFleetsPresent())(
    'clastix/flux2-capsule-multi-tenancy without its proxy in clusters.yaml',
    async () => {
      expect(await reconciled(capsuleFleet(), 'staging')).toEqual({
        ...platform,
        'dev-team/dev-team':
          'NotApproved: spec.kubeConfig: clusters.yaml lists no API server for what is evaluated as staging. List it under kubeConfigs of staging',
      })
    },
    120_000,
  )

  test.runIf(sharedFleetsPresent())(
    'clastix/flux2-capsule-multi-tenancy through its proxy',
    async () => {
      expect(await reconciled(capsuleFleet(), 'staging', { hasCapsule: true })).toEqual({
        ...platform,
        'dev-team/dev-team': 'Ready',
        'dev-team/namespaces': 'Ready',
        // it asks for the health of a HelmRelease in another namespace than the one that has it
        'dev-team/podinfo': 'Progressing: Reconciliation in progress',
      })
      const through = capsule!.proxy.seen.filter(({ method }) => method === 'PATCH').map(({ path }) => path)
      expect(through).toEqual(expect.arrayContaining(['/api/v1/namespaces/apps', '/api/v1/namespaces/tools']))
      const release = '/apis/helm.toolkit.fluxcd.io/v2beta1/namespaces/dev-team/helmreleases/podinfo'
      expect((await under.server.request('GET', release)).status).toBe(200)
    },
    120_000,
  )
})
