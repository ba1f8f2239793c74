import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsAt, jsonAt, mapAt, stringAt } from '../../../src/cluster/json-at.ts'
import { objectTexts } from '../../../src/fleet/graph/object-texts.ts'
import { readApplySettings } from '../../../src/flux/apply-settings/read-apply-settings.ts'
import { renderKustomization } from '../../../src/flux/render-kustomization.ts'
import type { Json } from '../../../src/kube/node.ts'
import type { KubeObject } from '../../../src/kube/object.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { ClusterMemory } from '../../../workers/apply/cluster-memory.ts'
import type { FluxEvent } from '../../envtest/flux-controller.ts'
import { treeOf } from '../../git/tree-of.ts'
import { create, createPlatformAccount, createTenant } from '../cluster-under-test.ts'
import {
  conditionOf,
  type FluxWorld,
  KUSTOMIZATION,
  kustomizations,
  missing,
  openFluxWorld,
  put,
  until,
} from './flux-world.ts'
import { SAME_CASES, type SameStep } from './same-cases.ts'
import { COMMIT, nodeOf, openWorker, type TestWorker } from './worker-world.ts'

type Node = ReturnType<typeof nodeOf>

/** What a step left: all that the two must agree about. */
interface Left {
  readonly status: Json
  readonly objects: Json
  readonly managers: Json
  readonly events: readonly string[]
}

const NAMES = Object.keys(SAME_CASES)
const MOST = Math.max(...Object.values(SAME_CASES).map(({ steps }) => steps.length))
const KINDS = [
  '/api/v1/namespaces/NS/configmaps',
  '/api/v1/namespaces/NS/secrets',
  '/api/v1/namespaces/NS/serviceaccounts',
  '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
]
const within = <T>(value: T, namespace: string): T => JSON.parse(JSON.stringify(value).replaceAll('NS', namespace))
const commitOf = (step: number) => 'abcdef'[step]!.repeat(40)
const revisionOf = (step: number) => `main@sha1:${commitOf(step)}`

function objectOf(namespace: string, step: SameStep): Json {
  const spec = {
    interval: '1h',
    retryInterval: '1h',
    prune: true,
    serviceAccountName: 'dev-team',
    sourceRef: { kind: 'GitRepository', name: 'app' },
    ...within(step.spec ?? {}, namespace),
  }
  return { ...KUSTOMIZATION, metadata: { name: 'app', namespace }, spec }
}

/** Times, durations, digests, counts and the names of the two namespaces aside. */
function plain<T>(value: T, namespace: string): T {
  const text = JSON.stringify(value)
    .replaceAll(namespace, 'NS')
    .replace(/"\d{4}-\d\d-\d\dT[\d:]+Z"/g, '"T"')
    .replace(/(after|passed in|finished in) [\d.a-zµ]+/g, '$1 D')
    .replace(/"lastReconciledDuration":"[^"]*"/g, '"lastReconciledDuration":"D"')
    .replace(/"digest":"sha256:[0-9a-f]{64}"/g, '"digest":"H"')
    .replace(/"totalReconciliations":\d+/g, '"totalReconciliations":1')
  return JSON.parse(text)
}

describe('the worker beside the real kustomize-controller, on the same input', () => {
  let world: FluxWorld
  let worker: TestWorker
  const memory = new ClusterMemory()
  const theirs = new Map<string, Left>()
  const ours = new Map<string, Left>()

  const statusPath = (namespace: string) => `${kustomizations(namespace)}/app`
  const list = async (path: string) => itemsAt((await world.cluster.request('GET', path)).body, 'items')

  async function left(namespace: string, events: readonly FluxEvent[]): Promise<Left> {
    const { status, body } = await world.cluster.request('GET', statusPath(namespace))
    const found: Json[] = []
    const managers: Json[] = []
    for (const path of within(KINDS, namespace)) {
      for (const object of await list(path)) {
        const { labels = {}, annotations = {}, name } = mapAt(object, 'metadata')
        if (name === 'dev-team' || name === 'kube-root-ca.crt') continue
        const { metadata: _m, kind: _k, apiVersion: _a, ...rest } = mapAt(object)
        found.push({ path, name: name!, labels, annotations, ...rest })
        const entries = itemsAt(object, 'metadata', 'managedFields')
        managers.push({
          name: name!,
          managers: entries
            .map(
              one =>
                `${stringAt(one, 'manager')} ${stringAt(one, 'operation')} ${JSON.stringify(jsonAt(one, 'fieldsV1'))}`,
            )
            .sort(),
        })
      }
    }
    const { inventory, ...others } = mapAt(body, 'status')
    const entries = itemsAt(inventory, 'entries')
      .map(one => JSON.stringify(one))
      .sort()
    const mine = events.filter(({ involvedObject, message }) => {
      // of a deleted one, Flux says besides that a reconciliation finished
      const isGone = status === 404 && message.startsWith('Reconciliation finished')
      return involvedObject.namespace === namespace && !isGone
    })
    const texts = mine.map(({ severity, reason, message, metadata: data }) => {
      const lines = message.split('\n').sort().join('\n')
      const pairs = Object.entries(data ?? {}).sort()
      return JSON.stringify(plain({ severity, reason, lines, data: pairs }, namespace))
    })
    return {
      status: status === 404 ? 'gone' : plain({ ...others, entries }, namespace),
      objects: plain(found, namespace),
      managers: plain(managers, namespace),
      events: [...new Set(texts)].sort(),
    }
  }

  async function prepare(namespace: string, step: SameStep): Promise<void> {
    for (const [resource, object] of Object.entries(step.before ?? {})) {
      const path = `/api/v1/namespaces/${namespace}/${resource}/${stringAt(object, 'metadata', 'name')}`
      const options = { contentType: 'application/apply-patch+yaml' }
      const { status, body } = await world.cluster.request(
        'PATCH',
        `${path}?fieldManager=kubectl&force=true`,
        within(object, namespace),
        options,
      )
      if (status !== 200) throw new Error(JSON.stringify(body))
    }
  }

  /** Each case in its own namespace, all at once, step by step. */
  async function fluxDoes(): Promise<void> {
    await world.startController()
    for (let index = 0; index < MOST; index++) {
      await Promise.all(
        NAMES.map(async (name, number) => {
          const step = SAME_CASES[name]!.steps[index]
          if (!step) return
          const namespace = `flux-${number}-x`
          await prepare(namespace, step)
          if (step.isDeleted) {
            await world.cluster.request('DELETE', statusPath(namespace))
            await until(world.cluster, statusPath(namespace), one => one === undefined)
          } else {
            const declared = (await put(world.cluster, kustomizations(namespace), objectOf(namespace, step))) as Json
            await world.artifacts.put({ namespace, name: 'app' }, revisionOf(index), within(step.files, namespace))
            if (!step.spec?.suspend)
              await until(world.cluster, statusPath(namespace), one => isOver(one, revisionOf(index), declared))
            else await new Promise(resolve => setTimeout(resolve, 1000))
          }
        }),
      )
      await new Promise(resolve => setTimeout(resolve, 1500))
      for (const [number, name] of NAMES.entries()) {
        theirs.set(`${name} ${index}`, await left(`flux-${number}-x`, world.sink.events))
      }
      world.sink.events.length = 0
    }
    await world.stopController()
  }

  async function workerDoes(): Promise<void> {
    for (let index = 0; index < MOST; index++) {
      const nodes: Node[] = [
        nodeOf({ namespace: 'flux-system', name: 'root' }, [], {
          user: PLATFORM,
          tenant: null,
          commit: commitOf(index),
        }),
      ]
      const held: { node: string; reason: string }[] = []
      for (const [number, name] of NAMES.entries()) {
        const namespace = `ours-${number}-x`
        const { steps } = SAME_CASES[name]!
        const step = steps[index] ?? steps.at(-1)!
        const isNew = steps[index] !== undefined
        if (isNew) await prepare(namespace, step)
        if (step.isDeleted) {
          if (isNew) await world.cluster.request('DELETE', statusPath(namespace))
          continue
        }
        if (isNew) await put(world.cluster, kustomizations(namespace), objectOf(namespace, step))
        nodes.push(evaluatedNode(namespace, step, isNew ? index : steps.length - 1, held))
      }
      const isHeld = new Set(held.map(({ node }) => node))
      const evaluated = nodes.map(node => ({ ...node, findings: [], failures: [], hides: [], refused: [] }))
      await worker.run(
        nodes.filter(({ key }) => !isHeld.has(key)),
        { nodes: evaluated, held },
      )
      for (const [number, name] of NAMES.entries()) {
        ours.set(`${name} ${index}`, await left(`ours-${number}-x`, world.sink.events))
      }
      world.sink.events.length = 0
    }
  }

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    Object.assign(memory.board, { events: world.sink.url })
    worker = await openWorker(world, memory)
    await createPlatformAccount(world.cluster)
    await create(world.cluster, '/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    for (const number of NAMES.keys()) {
      await createTenant(world.cluster, `flux-${number}-x`, 'dev-team')
      await createTenant(world.cluster, `ours-${number}-x`, 'dev-team')
    }
    await rightsAreKnown(`ours-${NAMES.length - 1}-x`)
    await fluxDoes()
    await workerDoes()
  }, 240_000)

  /** The API server learns of bindings one after the other: those of the last tenant are known last. */
  async function rightsAreKnown(namespace: string): Promise<void> {
    const user = `system:serviceaccount:${namespace}:dev-team`
    const resourceAttributes = { verb: 'create', resource: 'configmaps', namespace }
    for (let left = 200; left > 0; left--) {
      const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
      const { body } = await world.cluster.request('POST', path, { spec: { user, resourceAttributes } })
      if (jsonAt(body, 'status', 'allowed') === true) return
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    throw new Error(`the rights of ${user} are not known`)
  }

  afterAll(async () => {
    worker?.client.close()
    await world?.close()
  })

  test.for(NAMES)('%s', async (name, { skip }) => {
    if (missing !== undefined) return skip(missing)
    const { steps, differs = {} } = SAME_CASES[name]!
    for (const index of steps.keys()) {
      const [flux, we] = [theirs.get(`${name} ${index}`)!, ours.get(`${name} ${index}`)!]
      expect(we.objects, `objects after step ${index}`).toEqual(flux.objects)
      if (differs.managers === undefined) expect(we.managers, `managers after step ${index}`).toEqual(flux.managers)
      if (differs.status === undefined) expect(we.status, `status after step ${index}`).toEqual(flux.status)
      if (differs.events === undefined) expect(we.events, `events after step ${index}`).toEqual(flux.events)
    }
  })
})

const PLATFORM = 'system:serviceaccount:flux-system:kustomize-controller'

function isOver(live: Json | undefined, revision: string, declared: Json): boolean {
  const ready = live === undefined ? undefined : conditionOf(live, 'Ready')
  const isNow = jsonAt(ready, 'observedGeneration') === jsonAt(declared, 'metadata', 'generation')
  if (!live || !ready || !isNow || stringAt(ready, 'status') === 'Unknown') return false
  const reason = stringAt(ready, 'reason')
  const isSeen = reason === 'DependencyNotReady' || stringAt(live, 'status', 'lastAttemptedRevision') === revision
  return (
    isSeen && (reason !== 'ReconciliationSucceeded' || stringAt(live, 'status', 'lastAppliedRevision') === revision)
  )
}

/** The node as an evaluation of these files would have it; held where it does not build. */
function evaluatedNode(
  namespace: string,
  step: SameStep,
  index: number,
  held: { node: string; reason: string }[],
): Node {
  const declared = objectOf(namespace, step)
  const [root] = parseDocuments({ repository: '', path: 'ks.yaml' }, Buffer.from(JSON.stringify(declared)))
  const kustomization = { root, trail: [] } as unknown as KubeObject
  const { settings } = readApplySettings(kustomization, namespace)
  const more = {
    parent: `staging/flux-system/root`,
    settings,
    prune: jsonAt(declared, 'spec', 'prune') === true,
    suspend: jsonAt(declared, 'spec', 'suspend') === true,
    dependsOn: itemsAt(declared, 'spec', 'dependsOn').map(one => `staging/${namespace}/${stringAt(one, 'name')}`),
    commit: commitOf(index),
  }
  const at = { namespace, name: 'app' }
  try {
    const objects = renderKustomization({ repository: '', tree: treeOf(within(step.files, namespace)) }, kustomization)
    return nodeOf(
      at,
      objectTexts(objects).map(text => JSON.parse(text)),
      more,
    )
  } catch (error) {
    const node = nodeOf(at, [], more)
    held.push({ node: node.key, reason: String(error) })
    return node
  }
}

expect(COMMIT).toBe(commitOf(0))
