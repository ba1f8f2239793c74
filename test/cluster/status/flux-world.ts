import { itemsAt, stringAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import { type Artifacts, openArtifacts } from '../../../tools/envtest/artifacts.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { findFlux, NO_FLUX } from '../../../tools/envtest/flux-assets.ts'
import {
  type EventSink,
  installFlux,
  openEventSink,
  type RunningController,
  startKustomizeController,
} from '../../../tools/envtest/flux-controller.ts'
import { startCluster, type TestCluster } from '../../../tools/envtest/start.ts'

/** Why nothing can be compared with the real controller here; undefined where it can. */
export const missing = findAssets() ? (findFlux() ? undefined : NO_FLUX) : NO_ASSETS

export const KUSTOMIZATION = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization' } as const
export const kustomizations = (namespace: string) =>
  `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/${namespace}/kustomizations`

/** An API server that knows Flux's kinds, with sources served on loopback, and the real controller where a test starts it. */
export interface FluxWorld {
  readonly cluster: TestCluster
  readonly artifacts: Artifacts
  readonly sink: EventSink
  startController(flags?: readonly string[]): Promise<void>
  stopController(): Promise<void>
  close(): Promise<void>
}

/** `options`: of its API server. */
export async function openFluxWorld(options: Parameters<typeof startCluster>[0] = {}): Promise<FluxWorld> {
  const cluster = await startCluster(options)
  await installFlux(cluster)
  const artifacts = await openArtifacts(cluster)
  const sink = await openEventSink()
  let controller: RunningController | undefined
  const stopController = async () => {
    await controller?.stop()
    controller = undefined
  }
  return {
    cluster,
    artifacts,
    sink,
    async startController(flags) {
      controller = await startKustomizeController(cluster, { sink, ...(flags ? { flags } : {}) })
    },
    stopController,
    async close() {
      await stopController()
      await artifacts.close()
      await sink.close()
      await cluster.stop()
    },
  }
}

/** Creates the object, or makes its spec and metadata those given. */
export async function put(cluster: TestCluster, collection: string, object: Json): Promise<Json> {
  const created = await cluster.request('POST', collection, object)
  if (created.status === 201) return created.body
  if (created.status !== 409) throw new Error(`POST ${collection}: ${JSON.stringify(created.body)}`)
  const name = stringAt(object, 'metadata', 'name')
  const contentType = 'application/merge-patch+json'
  const patched = await cluster.request('PATCH', `${collection}/${name}`, object, { contentType })
  if (patched.status !== 200) throw new Error(`PATCH ${collection}/${name}: ${JSON.stringify(patched.body)}`)
  return patched.body
}

export const conditionOf = (object: Json, type: string): Json | undefined =>
  itemsAt(object, 'status', 'conditions').find(one => stringAt(one, 'type') === type)

/** The object as soon as it is as `isDone` wants it; fails with what it is instead. */
export async function until(
  cluster: TestCluster,
  path: string,
  isDone: (object: Json | undefined) => boolean,
  seconds = 30,
): Promise<Json | undefined> {
  for (const start = Date.now(); ; ) {
    const { status, body } = await cluster.request('GET', path)
    const object = status === 404 ? undefined : body
    if (isDone(object)) return object
    if (Date.now() - start > seconds * 1000) throw new Error(`${path} stays ${JSON.stringify(object)}`)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
