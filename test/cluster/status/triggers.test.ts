import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect } from '../../../src/cluster/api-client.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { findFlux } from '../../../tools/envtest/flux-assets.ts'
import { WatchedCluster } from '../../../workers/apply/watched-cluster.ts'
import { silentLog } from '../../repository/runner/silent-log.ts'
import { approvedOf } from '../approved-node.ts'
import { binding, configMap, create, createTenant } from '../cluster-under-test.ts'
import { type FluxWorld, KUSTOMIZATION, kustomizations, missing, openFluxWorld, put, until } from './flux-world.ts'
import { CLUSTER, nodeOf } from './worker-world.ts'

const NAMES = ['shop', 'sealed', 'templated', 'plain'] as const
const SECRETS = '/api/v1/namespaces/apps/secrets'
const CONFIGMAPS = '/api/v1/namespaces/apps/configmaps'
const LABEL = { 'reconcile.fluxcd.io/watch': 'Enabled' }
const AGE = { 'a.agekey': Buffer.from(`AGE-SECRET-KEY-1${'Q'.repeat(58)}`).toString('base64') }
const merge = { contentType: 'application/merge-patch+json' }

describe('what asks for a reconciliation at once', () => {
  let world: FluxWorld
  let watched: WatchedCluster
  let again = 0
  const requests: string[] = []
  const node = (name: string, more: Parameters<typeof nodeOf>[2] = {}) =>
    nodeOf({ namespace: 'apps', name }, [configMap('apps', name)], more)
  const nodes = [
    node('shop'),
    node('sealed', { decryption: { secret: 'keys', seals: [] } }),
    node('templated', { needs: [{ kind: 'ConfigMap', name: 'vars', optional: true }] as never }),
    node('plain', { decryption: { secret: 'silent', seals: [] } }),
  ]
  const holds = async (check: () => boolean) => {
    while (!check()) await sleep(20)
  }

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    await createTenant(world.cluster, 'apps', 'dev-team')
    for (const name of NAMES) {
      const spec = { interval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name: 'shop' } }
      await put(world.cluster, kustomizations('apps'), {
        ...KUSTOMIZATION,
        metadata: { namespace: 'apps', name },
        spec,
      })
    }
    await create(world.cluster, SECRETS, { metadata: { name: 'keys', labels: LABEL }, data: AGE })
    await create(world.cluster, SECRETS, { metadata: { name: 'silent' }, data: AGE })
    await create(world.cluster, CONFIGMAPS, { metadata: { name: 'vars', labels: LABEL }, data: { a: '1' } })
    const plain = await connect(binding(CLUSTER, world.cluster.workerKubeconfig))
    const client: ClusterClient = {
      ...plain,
      request(actor, method, path, options) {
        requests.push(`${method} ${path}`)
        return plain.request(actor, method, path, options)
      },
    }
    const far = 3_600_000
    watched = new WatchedCluster({
      ...{ client, drift: 'watch', fullPassMs: far, pollMs: far, log: silentLog },
      again: () => void again++,
    })
    const said = await watched.run(approvedOf(nodes), AbortSignal.timeout(60_000))
    expect(said.map(({ outcome }) => outcome)).toEqual(['applied', 'applied', 'applied', 'applied'])
  }, 120_000)
  afterAll(async () => {
    await watched?.close()
    await world?.close()
  })
  beforeEach(() => {
    again = 0
  })

  test('flux reconcile ks is answered without a run, also while drift of it is put back', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await world.cluster.request('PATCH', `${CONFIGMAPS}/shop`, { data: { key: 'other' } }, merge)
    const all = ['reconcile', 'ks', 'shop', '--namespace=apps', `--kubeconfig=${world.cluster.adminKubeconfig}`]
    const { stderr } = await promisify(execFile)(findFlux()!.cli, all)
    expect(stderr).toContain('applied revision')
    const asked = { metadata: { annotations: { 'reconcile.fluxcd.io/requestedAt': 'now' } } }
    await world.cluster.request('PATCH', `${kustomizations('apps')}/shop`, asked, merge)
    const isHandled = (object: Json | undefined) =>
      stringAt(object ?? null, 'status', 'lastHandledReconcileAt') === 'now'
    await until(world.cluster, `${kustomizations('apps')}/shop`, isHandled)
    await until(world.cluster, `${CONFIGMAPS}/shop`, object => stringAt(object ?? null, 'data', 'key') === 'value')
    const events = await world.cluster.request('GET', '/api/v1/namespaces/apps/events')
    expect(JSON.stringify(events.body)).toContain('ConfigMap/apps/shop configured')
    expect(again).toBe(0)
  }, 60_000)

  test('the labelled Secret of decryption: its node is opened again by a run; another change asks for nothing', async ({
    skip,
  }) => {
    if (missing !== undefined) return skip(missing)
    // until the watch is on
    for (let round = 0; again === 0; round++) {
      const annotations = { round: String(round) }
      await world.cluster.request('PATCH', `${SECRETS}/keys`, { metadata: { annotations } }, merge)
      await sleep(300)
    }
    again = 0
    await world.cluster.request('PATCH', `${SECRETS}/silent`, { metadata: { annotations: { last: 'x' } } }, merge)
    await sleep(300)
    expect(again).toBe(0)
  }, 60_000)

  test('values that are substituted are evaluated again, by a run', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await world.cluster.request('PATCH', `${CONFIGMAPS}/vars`, { data: { a: '2' } }, merge)
    await holds(() => again > 0)
    again = 0
    const before = requests.length
    await create(world.cluster, CONFIGMAPS, { metadata: { name: 'unrelated', labels: LABEL }, data: { a: '2' } })
    await sleep(300)
    expect([again, requests.length]).toEqual([0, before])
  }, 60_000)
})
