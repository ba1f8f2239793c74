import { jsonAt } from '../../../src/cluster/json.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'

/** What the API server has at a path, as its admin sees it. Throws when it has nothing. */
export async function live(cluster: TestCluster, path: string): Promise<{ readonly [field: string]: Json }> {
  const { status, body } = await cluster.request('GET', path)
  if (status !== 200) throw new Error(`GET ${path} answered ${status}`)
  return body as { [field: string]: Json }
}

/** 200, or 404 where there is nothing. */
export async function liveStatus(cluster: TestCluster, path: string): Promise<number> {
  return (await cluster.request('GET', path)).status
}

/** Gives a Deployment the status that its controller writes when all replicas run. */
export async function becomeReady(cluster: TestCluster, path: string): Promise<void> {
  const object = await live(cluster, path)
  const [generation, count] = [jsonAt(object, 'metadata', 'generation')!, jsonAt(object, 'spec', 'replicas')!]
  const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count }
  const conditions = [
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '' },
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: '' },
  ]
  const status = { observedGeneration: generation, ...counts, conditions }
  await cluster.request('PATCH', `${path}/status`, { status }, { contentType: 'application/merge-patch+json' })
}
