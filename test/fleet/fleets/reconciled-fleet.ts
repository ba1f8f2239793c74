import type { RemoteServer } from '../../../src/cluster/cluster-settings.ts'
import { idOf, itemsAt, jsonAt, mapAt, parseExact, stringAt } from '../../../src/cluster/json.ts'
import { buildFleet } from '../../../src/fleet/graph/build-fleet.ts'
import { type FleetInput, revisionSetOf } from '../../../src/fleet/model/input.ts'
import type { Json } from '../../../src/kube/node.ts'
import { groupOf, type ObjectId } from '../../../src/kube/object.ts'
import { approve } from '../../../src/verdict/approve.ts'
import { evaluateFleet } from '../../../src/verdict/evaluate-fleet.ts'
import type { TestCluster } from '../../../tools/envtest/start.ts'
import type { Approved } from '../../../workers/apply/approved-nodes.ts'
import { definition } from '../../cluster/flux-kinds.ts'

const FLUX = /\.toolkit\.fluxcd\.io$/
const BUILT_IN = /^(?:|apps|batch|policy|autoscaling|.*\.k8s\.io)$/
const MERGE = { contentType: 'application/merge-patch+json' }
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/**
 * What the worker may apply of a fleet to one of its clusters, and why it holds the rest. `kubeConfigs`: as clusters.yaml lists
 * them for it.
 */
export function approvedOfFleet(
  input: FleetInput,
  cluster: string,
  kubeConfigs: readonly RemoteServer[] = [],
): Approved {
  const revisionSet = revisionSetOf(input)
  const evaluation = evaluateFleet(buildFleet(input), { revisionSet })
  const { url, branch, commit } = input.fleet
  const sources = evaluation.nodes.map(({ source }) => ({ url: source.url, ref: {}, commit: source.commit }))
  const heads = { revisionSet, complete: true, fleet: { url, branch, commit }, sources }
  const { apply, held } = approve({
    binding: { cluster, fleet: url, branch, kubeConfigs },
    evaluated: { revisionSet, nodes: evaluation.nodes, baseline: [] },
    heads,
  })
  const nodes = evaluation.nodes.filter(node => node.cluster === cluster)
  return { nodes, evaluation, apply, held, fleetCommit: commit }
}

/**
 * What `flux bootstrap` leaves on a cluster, and minimal definitions of what else the fleet uses and does not define: its
 * charts and operators would bring them, and nothing of them runs here.
 */
export async function bootstrap(server: TestCluster, { nodes }: Approved): Promise<void> {
  const objects = nodes.flatMap(node => node.objects.map(text => parseExact(text)))
  for (const one of definitions(objects)) {
    const { status, body } = await server.request('POST', CRDS, one)
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  const [root] = nodes
  const { namespace, name } = root!
  const at = (kind: string) => ({ apiVersion: versionOf(objects, kind), kind, metadata: { namespace, name } })
  await untilServed(server, at('Kustomization').apiVersion, 'kustomizations')
  await untilServed(server, at('GitRepository').apiVersion, 'gitrepositories')
  for (const [plural, kind] of [
    ['gitrepositories', 'GitRepository'],
    ['kustomizations', 'Kustomization'],
  ] as const) {
    const path = `/apis/${at(kind).apiVersion}/namespaces/${namespace}/${plural}`
    const { status, body } = await server.request('POST', path, at(kind))
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
}

const versionOf = (objects: readonly Json[], kind: string): string =>
  [...objects.map(idOf)].find(id => id.kind === kind && FLUX.test(groupOf(id.apiVersion)))?.apiVersion ??
  (kind === 'Kustomization' ? 'kustomize.toolkit.fluxcd.io/v1' : 'source.toolkit.fluxcd.io/v1')

function definitions(objects: readonly Json[]): Json[] {
  const ids = objects.map(idOf)
  const own = new Set(
    objects
      .filter(object => stringAt(object, 'kind') === 'CustomResourceDefinition')
      .map(object => `${stringAt(object, 'spec', 'group')} ${stringAt(object, 'spec', 'names', 'kind')}`),
  )
  const flux: ObjectId[] = ['Kustomization', 'GitRepository'].map(kind => ({
    ...{ kind, apiVersion: versionOf(objects, kind), namespace: 'flux-system', name: 'flux-system' },
  }))
  const byKind = Map.groupBy([...flux, ...ids], id => `${groupOf(id.apiVersion)} ${id.kind}`)
  return [...byKind].flatMap(([key, all]) => {
    const [group = '', kind = ''] = key.split(' ')
    const isOwn = own.has(key) && !FLUX.test(group)
    if (BUILT_IN.test(group) || isOwn) return []
    const versions = [...new Set(all.map(({ apiVersion }) => apiVersion.split('/')[1]!))]
    return [
      definition(group, kind, { versions, scope: all.some(({ namespace }) => namespace) ? 'Namespaced' : 'Cluster' }),
    ]
  })
}

async function untilServed(server: TestCluster, apiVersion: string, plural: string): Promise<void> {
  while ((await server.request('GET', `/apis/${apiVersion}/${plural}`)).status !== 200)
    await new Promise(resolve => setTimeout(resolve, 50))
}

/** Kinds whose controllers do not run here, with the status that they would write. */
const RUNNING: readonly [RegExp, (object: Json) => Json][] = [
  [/^(?:source|helm|notification|image)\.toolkit\.fluxcd\.io /, ready],
  [/^apps Deployment$/, deployed],
]

function ready(object: Json): Json {
  const generation = jsonAt(object, 'metadata', 'generation') ?? 1
  const time = '2026-01-01T00:00:00Z'
  const one = { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'ready', lastTransitionTime: time }
  return { observedGeneration: generation, conditions: [{ ...one, observedGeneration: generation }] }
}

function deployed(object: Json): Json {
  const count = jsonAt(object, 'spec', 'replicas') ?? 1
  const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count }
  return { ...mapAt(ready(object)), ...counts, conditions: [{ type: 'Available', status: 'True' }] }
}

/** Makes ready, until it is stopped, what other controllers of a cluster would. */
export async function runOthers(
  server: TestCluster,
  { nodes }: Approved,
  signal: AbortSignal,
  verified: 'True' | 'False' = 'True',
): Promise<void> {
  const commits = new Map(nodes.map(({ source }) => [source.id, source.commit]))
  const ids = nodes.flatMap(node => node.objects.map(text => idOf(parseExact(text))))
  const some = ids.filter(id => RUNNING.some(([kind]) => kind.test(`${groupOf(id.apiVersion)} ${id.kind}`)))
  while (!signal.aborted) {
    for (const id of some) {
      const commit = commits.get(`${id.kind}/${id.namespace}/${id.name}`) ?? ''
      await makeReady(server, id, { commit, verified })
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

interface FetchedSource {
  readonly commit: string
  readonly verified: 'True' | 'False'
}

/** What source-controller says of a source whose signature it checks. */
function fetched(object: Json, { commit, verified }: FetchedSource): object {
  if (jsonAt(object, 'spec', 'verify') === undefined) return {}
  const observedGeneration = jsonAt(object, 'metadata', 'generation') ?? 1
  const condition = { type: 'SourceVerified', status: verified, reason: 'Tested', message: '', observedGeneration }
  return {
    artifact: { revision: `v1@${commit}` },
    conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
  }
}

async function makeReady(
  server: TestCluster,
  { apiVersion, kind, namespace, name }: ObjectId,
  source: FetchedSource,
): Promise<void> {
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies')
  const path = `/apis/${apiVersion}/namespaces/${namespace}/${plural}/${name}`
  const { status, body } = await server.request('GET', path)
  const of = RUNNING.find(([one]) => one.test(`${groupOf(apiVersion)} ${kind}`))![1]
  if (status !== 200 || jsonAt(body, 'status', 'observedGeneration') === jsonAt(body, 'metadata', 'generation')) return
  await server.request(
    'PATCH',
    `${path}/status`,
    { status: { ...mapAt(of(body)), ...fetched(body, source) } as Json },
    MERGE,
  )
}

/** What the live Kustomizations say of themselves: `Ready`, or the reason and message why not. */
export async function readiness(server: TestCluster, { nodes }: Approved): Promise<Record<string, string>> {
  const objects = nodes.flatMap(node => node.objects.map(text => parseExact(text)))
  const { body } = await server.request('GET', `/apis/${versionOf(objects, 'Kustomization')}/kustomizations`)
  return Object.fromEntries(
    itemsAt(body, 'items').map(live => {
      const found = itemsAt(live, 'status', 'conditions').find(one => stringAt(one, 'type') === 'Ready')
      const isReady = stringAt(found, 'status') === 'True'
      const name = `${stringAt(live, 'metadata', 'namespace')}/${stringAt(live, 'metadata', 'name')}`
      return [name, isReady ? 'Ready' : `${stringAt(found, 'reason')}: ${stringAt(found, 'message')}`]
    }),
  )
}
