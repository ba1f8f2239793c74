import { jsonAt } from '../../../src/cluster/json.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import { kustomizations, put } from '../status/flux-world.ts'
import { type NodeState, within } from './case-state.ts'
import type { Act } from './step.ts'

const PATIENCE_MS = 90_000

/** Does them one after the other; what they act on may not be there yet. */
export async function doAll(cluster: TestCluster, acts: readonly Act[], namespace: string): Promise<void> {
  for (const { method, path, type, body, isOptional } of within(acts, namespace)) {
    for (const start = Date.now(); ; await new Promise(resolve => setTimeout(resolve, 50))) {
      const answer = await cluster.request(method, path, body, type === undefined ? {} : { contentType: type })
      if (answer.status < 300 || (isOptional && answer.status === 404)) break
      const said = `${method} ${path}: ${JSON.stringify(answer.body)}`
      if (answer.status !== 404 || Date.now() - start > PATIENCE_MS) throw new Error(said)
    }
  }
}

/** Makes the Kustomization on the cluster what git says of it. */
export async function declare(cluster: TestCluster, { declared, name }: NodeState, namespace: string): Promise<void> {
  const collection = kustomizations(namespace)
  const live = await cluster.request('GET', `${collection}/${name}`)
  if (live.status === 404) {
    await put(cluster, collection, declared)
    return
  }
  const body = [{ op: 'replace', path: '/spec', value: jsonAt(declared, 'spec')! }]
  const options = { contentType: 'application/json-patch+json' }
  const { status, body: said } = await cluster.request('PATCH', `${collection}/${name}`, body, options)
  if (status !== 200) throw new Error(`${collection}/${name}: ${JSON.stringify(said)}`)
}
