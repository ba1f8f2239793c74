import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsAt, jsonAt, mapAt, stringAt } from '../../../src/cluster/json.ts'
import {
  nextStatus,
  type ReconcileAttempt,
  type ReconcileOutcome,
} from '../../../src/cluster/status/kustomization-status.ts'
import type { Json } from '../../../src/kube/node.ts'
import { create, createTenant } from '../cluster-under-test.ts'
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

const REVISION = `main@sha1:${'a'.repeat(40)}`
const MAP = (name: string, namespace = 'apps') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: ${namespace}}\ndata: {key: value}\n`
interface Case {
  readonly files?: Readonly<Record<string, string>>
  readonly spec?: { readonly [field: string]: Json }
  readonly annotations?: Readonly<Record<string, string>>
  /** The reason of Ready at the end. */
  readonly reason: string
  /** What we say happened; `message` is what the controller wrote there. */
  readonly outcome: (message: string, live: Json) => ReconcileOutcome
}

const entry = (id: string) => ({ id, v: 'v1' })

const CASES: Readonly<Record<string, Case>> = {
  'everything is applied': {
    files: { 'b.yaml': MAP('b'), 'a.yaml': MAP('a') },
    reason: 'ReconciliationSucceeded',
    outcome: () => ({ state: 'applied', entries: [entry('apps_a__ConfigMap'), entry('apps_b__ConfigMap')] }),
  },
  'a reconciliation was asked for': {
    annotations: { 'reconcile.fluxcd.io/requestedAt': '2026-01-01T00:00:00Z' },
    reason: 'ReconciliationSucceeded',
    outcome: () => ({ state: 'applied', entries: [entry('apps_map__ConfigMap')] }),
  },
  'nothing is in it': {
    files: {
      'kustomization.yaml':
        'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\nconfigMapGenerator: []\ncommonLabels: {a: b}\n',
    },
    reason: 'ReconciliationSucceeded',
    outcome: () => ({ state: 'applied', entries: [] }),
  },
  'health checks pass': {
    spec: { wait: true },
    reason: 'ReconciliationSucceeded',
    outcome: () => ({ state: 'applied', entries: [entry('apps_map__ConfigMap')], healthMs: 1 }),
  },
  'health checks fail': {
    spec: { wait: true, healthCheckExprs: [{ apiVersion: 'v1', kind: 'ConfigMap', current: 'false', failed: 'true' }] },
    reason: 'HealthCheckFailed',
    outcome: (_, live) => ({
      state: 'failed',
      reason: 'HealthCheckFailed',
      message: stringAt(conditionOf(live, 'Healthy'), 'message'),
      entries: [entry('apps_map__ConfigMap')],
      healthMs: 1,
    }),
  },
  'the path is missing': {
    spec: { path: './nowhere' },
    reason: 'ArtifactFailed',
    outcome: message => ({ state: 'failed', reason: 'ArtifactFailed', message }),
  },
  'it does not build': {
    files: { 'kustomization.yaml': 'resources: [missing.yaml]\n' },
    reason: 'BuildFailed',
    outcome: message => ({ state: 'failed', reason: 'BuildFailed', message }),
  },
  'the account may not do it': {
    files: { 'map.yaml': MAP('map', 'other') },
    reason: 'ReconciliationFailed',
    outcome: message => ({ state: 'failed', reason: 'ReconciliationFailed', message }),
  },
  'a dependency is missing': {
    spec: { dependsOn: [{ name: 'absent' }] },
    reason: 'DependencyNotReady',
    outcome: message => ({ state: 'waiting', reason: 'DependencyNotReady', message }),
  },
  'a health expression is invalid': {
    spec: { healthCheckExprs: [{ apiVersion: 'v1', kind: 'ConfigMap', current: 'data.foo.' }] },
    reason: 'InvalidCELExpression',
    outcome: message => ({ state: 'stalled', reason: 'InvalidCELExpression', message }),
  },
}

/** What differs from run to run: times, how long things took, and whose digest it is. */
function timeless(status: Json | undefined): Json {
  const text = JSON.stringify(status ?? {})
    .replace(/"\d{4}-\d\d-\d\dT[\d:]+Z"/g, '"T"')
    .replace(/(after|passed in) [\d.]+(?:ns|µs|ms|s)/g, '$1 D')
    .replace(/"lastReconciledDuration":"[^"]*"/g, '"lastReconciledDuration":"D"')
    .replace(/"digest":"sha256:[0-9a-f]{64}"/g, '"digest":"H"')
    .replace(/"totalReconciliations":\d+/g, '"totalReconciliations":1')
  return JSON.parse(text)
}

describe('the status of a Kustomization, beside the one that the real controller wrote for the same', () => {
  let world: FluxWorld
  const seen = new Map<string, Json>()

  beforeAll(async () => {
    if (missing !== undefined) return
    world = await openFluxWorld()
    await createTenant(world.cluster, 'apps', 'dev-team')
    await create(world.cluster, '/api/v1/namespaces', { metadata: { name: 'other' } })
    let index = 0
    for (const [name, { files, spec, annotations }] of Object.entries(CASES)) {
      const key = `case-${index++}`
      await world.artifacts.put({ namespace: 'apps', name: key }, REVISION, files ?? { 'map.yaml': MAP('map') })
      await put(world.cluster, kustomizations('apps'), {
        ...KUSTOMIZATION,
        metadata: { name: key, namespace: 'apps', ...(annotations ? { annotations } : {}) },
        spec: {
          interval: '1h',
          retryInterval: '1h',
          prune: true,
          serviceAccountName: 'dev-team',
          sourceRef: { kind: 'GitRepository', name: key },
          ...spec,
        },
      })
      seen.set(name, key)
    }
    await world.startController()
  }, 120_000)
  afterAll(() => world?.close())

  test.for(Object.entries(CASES))('%s', async ([name, { reason, outcome }], { skip }) => {
    if (missing !== undefined) return skip(missing)
    const path = `${kustomizations('apps')}/${seen.get(name)}`
    const isDone = (one: Json | undefined) =>
      one !== undefined &&
      stringAt(conditionOf(one, 'Ready'), 'reason') === reason &&
      (reason !== 'ReconciliationSucceeded' || stringAt(one, 'status', 'lastAppliedRevision') !== '') &&
      (!reason.endsWith('Failed') || stringAt(conditionOf(one, 'Reconciling'), 'reason') === 'ProgressingWithRetry')
    await until(world.cluster, path, isDone)
    // it writes conditions and the rest one after the other
    await new Promise(resolve => setTimeout(resolve, 300))
    const live = (await until(world.cluster, path, isDone))!
    const attempt: ReconcileAttempt = {
      revision: REVISION,
      digest: `sha256:${'0'.repeat(64)}`,
      timeoutMs: 3_570_000,
      durationMs: 5,
      outcome: outcome(stringAt(conditionOf(live, 'Ready'), 'message'), live),
    }
    // the definition's own default
    const bare = { ...mapAt(live), status: { observedGeneration: -1 } }
    expect(timeless(nextStatus(bare, attempt, new Date()))).toEqual(timeless(jsonAt(live, 'status')))
    expect(itemsAt(live, 'metadata', 'finalizers')).toEqual(['finalizers.fluxcd.io'])
    expect(nextStatus(live, attempt, new Date()), 'no write where nothing changes').toBeUndefined()
  })
})
