import { itemsAt, jsonAt, stringAt } from '../../../src/cluster/json.ts'
import { digestOfTexts, objectTexts } from '../../../src/fleet/model/same-node.ts'
import { readApplySettings } from '../../../src/flux/apply-settings.ts'
import { renderKustomization } from '../../../src/flux/render-kustomization.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { treeOf } from '../../base/git/tree-of.ts'
import { type FluxWorld, kustomizations } from '../status/flux-world.ts'
import { nodeOf, type TestWorker } from '../status/worker-world.ts'
import { declare, doAll } from './acts.ts'
import { commitOf, type NodeState, statesAt } from './case-state.ts'
import type { SameCase } from './step.ts'

type Node = ReturnType<typeof nodeOf>
type Held = { readonly node: string; readonly reason: string }

const PLATFORM = 'system:serviceaccount:flux-system:kustomize-controller'
const ROUNDS = 60

/** Has the worker do a step of each case, by the namespace: one run, and more while health checks run. */
export async function workerDoes(
  world: FluxWorld,
  worker: TestWorker,
  cases: ReadonlyMap<string, SameCase>,
  index: number,
): Promise<void> {
  const root = nodeOf({ namespace: 'flux-system', name: 'root' }, [], {
    user: PLATFORM,
    tenant: null,
    commit: commitOf(index),
  })
  const nodes: Node[] = [root]
  const fresh: Node[] = [root]
  const held: Held[] = []
  const during: Promise<void>[] = []
  await Promise.all(
    [...cases].map(async ([namespace, one]) => {
      const step = one.steps[index]
      if (step) await doAll(world.cluster, step.before ?? [], namespace)
      const last = Math.min(index, one.steps.length - 1)
      for (const state of statesAt(one, last, namespace)) {
        if (step && state.isDeleted) await world.cluster.request('DELETE', `${kustomizations(namespace)}/${state.name}`)
        if (state.isDeleted || state.isGone) continue
        if (step && state.isNewSpec) await declare(world.cluster, state, namespace)
        const node = withOrigin(evaluated(namespace, state, last, one, held), state)
        nodes.push(node)
        if (step) fresh.push(node)
      }
      if (step) during.push(doAll(world.cluster, step.during ?? [], namespace))
    }),
  )
  const isHeld = new Set(held.map(({ node }) => node))
  const all = nodes.map(node => ({ ...node, findings: [], failures: [], hides: [], refused: [] }))
  const apply = nodes.filter(({ key }) => !isHeld.has(key))
  for (let round = 0; round < ROUNDS; round++) {
    const results = await worker.run(apply, { nodes: all, held }, round === 0 ? fresh : [])
    if (!results.some(({ reason }) => reason === 'its health checks still run')) break
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  await Promise.all(during)
}

const withOrigin = (node: Node, { origin }: NodeState): Node =>
  origin === '' ? node : { ...node, source: { ...node.source, originRevision: origin } }

/** The node as an evaluation of these files would have it; held where it cannot be evaluated or applied. */
function evaluated(namespace: string, state: NodeState, step: number, one: SameCase, held: Held[]): Node {
  const { declared, name, files } = state
  const [root] = parseDocuments({ repository: '', path: 'ks.yaml' }, Buffer.from(JSON.stringify(declared)))
  const kustomization = { root, trail: [] } as unknown as KubeObject
  const { settings, problems } = readApplySettings(kustomization, namespace)
  const more = {
    parent: 'staging/flux-system/root',
    user: `system:serviceaccount:${namespace}:${stringAt(declared, 'spec', 'serviceAccountName')}`,
    ...(one.isPlatform ? { tenant: null } : {}),
    settings,
    prune: jsonAt(declared, 'spec', 'prune') === true,
    suspend: jsonAt(declared, 'spec', 'suspend') === true,
    dependsOn: itemsAt(declared, 'spec', 'dependsOn').map(
      on => `staging/${stringAt(on, 'namespace') || namespace}/${stringAt(on, 'name')}`,
    ),
    commit: commitOf(step),
  }
  const at = { namespace, name }
  const hold = (reason: string) => {
    const node = nodeOf(at, [], more)
    held.push({ node: node.key, reason })
    return node
  }
  if (problems[0]) return hold(problems[0].message)
  try {
    const objects = renderKustomization({ repository: '', tree: treeOf(files) }, kustomization)
    const texts = objectTexts(objects)
    const applyDigest = digestOfTexts([...texts, JSON.stringify([settings, more.user, more.prune])])
    const node = nodeOf(
      at,
      texts.map(text => JSON.parse(text)),
      more,
    )
    return { ...node, applyDigest }
  } catch (error) {
    return hold(error instanceof Error ? error.message : String(error))
  }
}
