import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsAt, stringAt } from '../../../src/cluster/json.ts'
import { overlayTree } from '../../../src/fleet/rendering/trees.ts'
import { parseOnboardArguments } from '../../../src/tenants/onboard/parse-command.ts'
import { planOnboarding } from '../../../src/tenants/onboard/plan.ts'
import { WatchedCluster } from '../../../workers/apply/watched-cluster.ts'
import {
  type ClusterUnderTest,
  createPlatformAccount,
  get,
  haveAssets,
  startUnderTest,
} from '../../cluster/cluster-under-test.ts'
import { type FaultProxy, startFaultProxy } from '../../cluster/fault-proxy.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { acmeFleet } from '../../tenants/onboard/fleets.ts'
import { inputOf } from '../fleet-of.ts'
import { fleetFiles, fleetRepositories } from './read-fleet.ts'
import { approvedOfFleet, bootstrap, readiness, runOthers } from './reconciled-fleet.ts'

const HOUR = 3_600_000
const MAX_RUNS = 12
const BLUE = 'https://github.com/acme/blue'
const SYNC = 'tenants/base/dev-team/sync.yaml'
const TENANT = `---
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata:
  name: dev-team
spec:
  namespaceOptions: {quota: 3}
  owners:
  - kind: ServiceAccount
    name: system:serviceaccount:apps:dev-team
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: dev-team-impersonator
rules:
- apiGroups: [""]
  resources: [users]
  verbs: [impersonate]
  resourceNames: ["system:serviceaccount:apps:dev-team"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: dev-team-impersonator
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: dev-team-impersonator
subjects:
- kind: ServiceAccount
  name: dev-team
  namespace: apps
`
const CONFIGURATION = `apiVersion: capsule.clastix.io/v1beta2
kind: CapsuleConfiguration
metadata:
  name: default
spec:
  userGroups:
  - system:serviceaccounts:apps
`

/** A fleet with Capsule, whose tenant dev-team acts through its proxy, and blue as `/bailiwick onboard` adds it. */
function onboardedFiles() {
  const files = fleetFiles('acme/fleet')
  const list = 'infrastructure/kustomization.yaml'
  const at = files[SYNC]!.indexOf('spec:\n', files[SYNC]!.indexOf('kind: Kustomization')) + 'spec:\n'.length
  const ref = '  kubeConfig: {secretRef: {name: dev-team-kubeconfig, key: kubeconfig}}\n'
  const withCapsule = {
    [SYNC]: `${files[SYNC]!.slice(0, at)}${ref}${files[SYNC]!.slice(at)}`,
    [list]: files[list]!.replace('resources:\n', 'resources:\n  - capsule.yaml\n'),
    'infrastructure/capsule.yaml': `${CONFIGURATION}${TENANT}`,
  }
  const tree = overlayTree(acmeFleet(), new Map(Object.entries(withCapsule)))
  // no controller fills the role of tenants here
  const role = ['--role', 'cluster-admin']
  const request = parseOnboardArguments([
    'blue',
    '--repo',
    BLUE,
    '--namespace',
    'blue',
    '--cluster',
    'staging',
    ...role,
  ])
  const { files: made } = planOnboarding(request, tree, 'https://github.com/acme/fleet', 'main')
  return { ...files, ...withCapsule, ...Object.fromEntries(made.map(({ path, content }) => [path, content])) }
}

describe.skipIf(!haveAssets())('a tenant that was onboarded to a fleet with Capsule, on a real API server', () => {
  let under: ClusterUnderTest
  let proxy: FaultProxy
  let cluster: WatchedCluster
  let now = Date.now()
  const stop = new AbortController()
  let others: Promise<void> | undefined

  const { 'acme/fleet': fleet, 'acme/dev-team': dev, 'acme/ops-team': ops } = fleetRepositories
  const input = inputOf({
    url: fleet.url,
    fleet: onboardedFiles(),
    sources: [
      { url: dev.url, ref: { branch: 'main' }, files: fleetFiles('acme/dev-team') },
      { url: ops.url, ref: { branch: 'main' }, files: fleetFiles('acme/ops-team') },
      {
        url: BLUE,
        ref: { branch: 'main' },
        files: {
          'web.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: blue}\ndata: {a: b}\n',
        },
      },
    ],
  })
  const kubeConfigs = () => {
    const server: string = JSON.parse(readFileSync(proxy.kubeconfig, 'utf8')).clusters[0].cluster.server
    const ca = join(dirname(under.server.workerKubeconfig), 'certs', 'apiserver.crt')
    return [{ server, cluster: 'staging', ca, tokens: { lifetimeSeconds: 3600, audiences: [] } }]
  }
  const approved = () => approvedOfFleet(input, 'staging', kubeConfigs())
  const secret = () => get(under.server, '/api/v1/namespaces/blue/secrets/blue-kubeconfig')
  const tokenOf = async (): Promise<string> => {
    const text = Buffer.from(stringAt(await secret(), 'data', 'kubeconfig'), 'base64').toString()
    return JSON.parse(text).users[0].user.token
  }
  const said: string[] = []
  /** Until every Kustomization is ready. */
  const reconciled = async () => {
    for (let run = 0; run < MAX_RUNS; run++) {
      said.push(JSON.stringify(await cluster.run(approved(), AbortSignal.timeout(120_000))))
      await cluster.revisionsShown()
      const ready = await readiness(under.server, approved())
      if (Object.values(ready).every(one => one === 'Ready')) break
      await new Promise(resolve => setTimeout(resolve, 500))
    }
    return await readiness(under.server, approved())
  }

  beforeAll(async () => {
    under = await startUnderTest('staging')
    proxy = await startFaultProxy(under.server)
    await createPlatformAccount(under.server)
    await bootstrap(under.server, approved())
    others = runOthers(under.server, approved(), stop.signal)
    const { client } = under
    const settings = { client, drift: 'poll', fullPassMs: 100 * HOUR, pollMs: 100 * HOUR, log: silentLog } as const
    cluster = new WatchedCluster({ ...settings, again: () => {}, kubeConfigs: kubeConfigs(), now: () => now })
  }, 120_000)
  afterAll(async () => {
    stop.abort()
    await others
    await cluster?.close()
    await proxy?.close()
    await under?.stop()
  })

  test('its workload is applied through the proxy, by the kubeconfig that the worker made', async () => {
    expect(await reconciled()).toEqual({
      'flux-system/flux-system': 'Ready',
      'flux-system/infrastructure': 'Ready',
      'flux-system/sandbox-limits': 'Ready',
      'flux-system/tenants': 'Ready',
      'apps/dev-team': 'Ready',
      'blue/blue': 'Ready',
    })
    const user = 'system:serviceaccount:blue:blue'
    expect(proxy.seen.filter(({ method }) => method === 'PATCH')).toContainEqual(
      expect.objectContaining({ path: '/api/v1/namespaces/blue/configmaps/web', user }),
    )
    expect(await get(under.server, '/api/v1/namespaces/blue/configmaps/web')).toMatchObject({ data: { a: 'b' } })
    const tenant = await get(under.server, '/apis/capsule.clastix.io/v1beta2/tenants/blue')
    expect(tenant).toMatchObject({ spec: { namespaceOptions: { quota: 3 } } })
  }, 120_000)

  test('its token is renewed before it ends, and stands in the Secret alone', async () => {
    await reconciled()
    const first = await tokenOf()
    now += 0.7 * HOUR
    await reconciled()
    const second = await tokenOf()
    expect(second).not.toBe(first)
    for (const path of [
      '/api/v1/events',
      '/api/v1/configmaps',
      '/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations',
    ]) {
      const { body } = await under.server.request('GET', path)
      expect(itemsAt(body, 'items').length).toBeGreaterThan(0)
      said.push(JSON.stringify(body))
    }
    for (const token of [first, second]) expect(said.filter(text => text.includes(token))).toEqual([])
  }, 120_000)
})
