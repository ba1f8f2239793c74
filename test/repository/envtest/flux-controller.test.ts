import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Artifacts, openArtifacts } from '../../../tools/envtest/artifacts.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { findFlux, NO_FLUX } from '../../../tools/envtest/flux-assets.ts'
import {
  type EventSink,
  installFlux,
  openEventSink,
  startKustomizeController,
} from '../../../tools/envtest/flux-controller.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'

const missing = findAssets() ? (findFlux() ? undefined : NO_FLUX) : NO_ASSETS
const KUSTOMIZATIONS = '/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/default/kustomizations'

describe('the real kustomize-controller on a real API server', () => {
  let cluster: TestCluster
  let artifacts: Artifacts
  let sink: EventSink

  beforeAll(async () => {
    if (missing !== undefined) return
    cluster = await startCluster()
    await installFlux(cluster)
    artifacts = await openArtifacts(cluster)
    sink = await openEventSink()
  })
  afterAll(async () => {
    await artifacts?.close()
    await sink?.close()
    await cluster?.stop()
  })

  test('it applies what an artifact holds, writes a status and posts an event', async ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    await artifacts.put({ namespace: 'default', name: 'app' }, `main@sha1:${'a'.repeat(40)}`, {
      'map.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: applied, namespace: default}\ndata: {key: value}\n',
    })
    const spec = { interval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name: 'app' } }
    const kind = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization' }
    await cluster.request('POST', KUSTOMIZATIONS, { ...kind, metadata: { name: 'app' }, spec })
    const controller = await startKustomizeController(cluster, { sink })
    try {
      const { status } = await untilReady(cluster, 'app')
      expect(status.inventory).toEqual({ entries: [{ id: 'default_applied__ConfigMap', v: 'v1' }] })
      const { body } = await cluster.request('GET', '/api/v1/namespaces/default/configmaps/applied')
      expect(body).toMatchObject({
        data: { key: 'value' },
        metadata: { managedFields: [{ manager: 'kustomize-controller' }] },
      })
      await expect.poll(() => sink.events.map(event => event.reason)).toContain('ReconciliationSucceeded')
    } finally {
      await controller.stop()
    }
  })
})

async function untilReady(cluster: TestCluster, name: string) {
  for (;;) {
    const { body } = await cluster.request('GET', `${KUSTOMIZATIONS}/${name}`)
    const { status } = body as { status?: { conditions?: { type: string; status: string }[]; inventory?: unknown } }
    const ready = status?.conditions?.some(one => one.type === 'Ready' && one.status === 'True')
    // it writes conditions before the rest
    if (status?.inventory && ready) return { status }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
