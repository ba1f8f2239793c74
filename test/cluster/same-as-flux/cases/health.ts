import { act, deployment, job, map, one, type SameCase } from '../step.ts'

const web = { 'd.yaml': deployment('web') }
const ready = (generation: number) =>
  act.status('Deployment', 'web', {
    ...{ observedGeneration: generation, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
    conditions: [
      { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', message: '' },
      { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: '' },
    ],
  })
const stalled = (generation: number) =>
  act.status('Deployment', 'web', {
    ...{ observedGeneration: generation, replicas: 1, updatedReplicas: 1, unavailableReplicas: 1 },
    conditions: [
      { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'it takes too long' },
    ],
  })
const time = '2026-01-01T00:00:00Z'
const complete = act.status('Job', 'run', {
  ...{ startTime: time, completionTime: time, succeeded: 1, terminating: 0, ready: 0, uncountedTerminatedPods: {} },
  conditions: [
    { type: 'SuccessCriteriaMet', status: 'True', lastProbeTime: time, lastTransitionTime: time },
    { type: 'Complete', status: 'True', lastProbeTime: time, lastTransitionTime: time },
  ],
})
const failed = act.status('Job', 'run', {
  ...{ startTime: time, failed: 1, terminating: 0, ready: 0, uncountedTerminatedPods: {} },
  conditions: [
    {
      type: 'FailureTarget',
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'too often',
      lastProbeTime: time,
      lastTransitionTime: time,
    },
    {
      type: 'Failed',
      status: 'True',
      reason: 'BackoffLimitExceeded',
      message: 'too often',
      lastProbeTime: time,
      lastTransitionTime: time,
    },
  ],
})
const check = (kind: string, name: string, apiVersion = 'v1') => ({
  healthChecks: [{ apiVersion, kind, name, namespace: 'NS' }],
})
const expressions = (current: string, more: Record<string, string> = {}) => ({
  wait: true,
  healthCheckExprs: [{ apiVersion: 'v1', kind: 'ConfigMap', current, ...more }],
})
const on = (name: string, readyExpr?: string) => ({ dependsOn: [{ name, ...(readyExpr ? { readyExpr } : {}) }] })
const b = { 'b.yaml': map('b') }
const missing = { 'x.yaml': map('x').replace('NS', 'elsewhere') }

/** What is waited for (wait, health checks, dependsOn). */
export const HEALTH: Readonly<Record<string, SameCase>> = {
  'wait: what is ready at once': { steps: [{ files: one, spec: { wait: true } }] },
  'wait: and again': { steps: [{ files: one, spec: { wait: true } }, { files: { ...one, x: '' } }] },
  'wait: and a new revision that changes something': {
    steps: [{ files: one, spec: { wait: true } }, { files: { 'a.yaml': map('a', 'key: new') } }],
  },
  'wait: switched off': { steps: [{ files: one, spec: { wait: true } }, { spec: { wait: false } }] },
  'wait: switched on': { steps: [{ files: one }, { spec: { wait: true } }] },
  'wait: a Deployment becomes ready': { steps: [{ files: web, spec: { wait: true }, during: [ready(1)] }] },
  'wait: a Deployment is stalled': {
    differs: ['messages of a health check'],
    steps: [{ files: web, spec: { wait: true }, during: [stalled(1)] }],
  },
  'wait: a Deployment is stalled, then ready': {
    differs: ['messages of a health check'],
    steps: [
      { files: web, spec: { wait: true }, during: [stalled(1)] },
      { files: { ...web, x: '' }, before: [ready(1)] },
    ],
  },
  'wait: ready, then stalled by a new revision': {
    differs: ['messages of a health check'],
    steps: [
      { files: web, spec: { wait: true }, during: [ready(1)] },
      { files: { 'd.yaml': deployment('web', 'web:2') }, during: [stalled(2)] },
    ],
  },
  'wait: a Job completes': { steps: [{ files: { 'j.yaml': job('run') }, spec: { wait: true }, during: [complete] }] },
  'wait: a Job fails': {
    differs: ['messages of a health check'],
    steps: [{ files: { 'j.yaml': job('run') }, spec: { wait: true }, during: [failed] }],
  },
  'wait: objects that are not applied do not count': {
    steps: [
      {
        files: {
          ...one,
          'd.yaml': deployment('web').replace(
            'metadata: {name: web,',
            'metadata: {annotations: {kustomize.toolkit.fluxcd.io/ssa: Ignore}, name: web,',
          ),
        },
        spec: { wait: true },
      },
    ],
  },
  'wait: deleted afterwards': {
    differs: ['a deleted Kustomization'],
    steps: [{ files: one, spec: { wait: true } }, { isDeleted: true }],
  },
  'wait: nothing is left': {
    steps: [{ files: one, spec: { wait: true } }, { files: { 'kustomization.yaml': 'resources: []\n' } }],
  },
  'health: by name': { steps: [{ files: one, spec: check('ConfigMap', 'a') }] },
  'health: a Deployment by name': {
    steps: [{ files: web, spec: check('Deployment', 'web', 'apps/v1'), during: [ready(1)] }],
  },
  'health: a Deployment by name that is stalled': {
    differs: ['messages of a health check'],
    steps: [{ files: web, spec: check('Deployment', 'web', 'apps/v1'), during: [stalled(1)] }],
  },
  'health: what somebody else made': {
    steps: [
      { files: one, before: [act.apply('ConfigMap', 'theirs', { data: {} })], spec: check('ConfigMap', 'theirs') },
    ],
  },
  'health: the checks are taken back': { steps: [{ files: one, spec: check('ConfigMap', 'a') }, { spec: {} }] },
  'health: an expression that holds': { steps: [{ files: one, spec: expressions("data.key == 'value'") }] },
  'health: an expression of failure': {
    differs: ['messages of a health check'],
    steps: [{ files: one, spec: expressions("data.key == 'none'", { failed: "data.key == 'value'" }) }],
  },
  'health: an expression that fails, then holds': {
    differs: ['messages of a health check'],
    steps: [
      { files: one, spec: expressions("data.key == 'new'", { failed: "data.key == 'value'" }) },
      { files: { 'a.yaml': map('a', 'key: new') } },
    ],
  },
  'health: an expression that is none': {
    differs: ['an invalid CEL expression'],
    steps: [{ files: one, spec: expressions('data.key ===') }],
  },
  'dependsOn: one that is not there': {
    differs: ['messages of a dependency'],
    steps: [{ files: one, spec: on('absent') }],
  },
  'dependsOn: one that is ready': {
    mayDiffer: ['messages of a dependency'],
    steps: [{ files: one, spec: on('first'), more: { first: { files: b } } }],
  },
  'dependsOn: one that fails': {
    mayDiffer: ['messages of a dependency'],
    steps: [{ files: one, spec: on('first'), more: { first: { files: missing } } }],
  },
  'dependsOn: one that fails, and is mended': {
    mayDiffer: ['messages of a dependency', 'messages of a refusal'],
    steps: [{ files: one, spec: on('first'), more: { first: { files: missing } } }, { more: { first: { files: b } } }],
  },
  'dependsOn: one that is suspended': {
    steps: [{ files: one, spec: on('first'), more: { first: { files: b, spec: { suspend: true } } } }],
  },
  'dependsOn: a chain of three': {
    mayDiffer: ['messages of a dependency'],
    steps: [
      {
        files: one,
        spec: on('second'),
        more: { second: { files: b, spec: on('first') }, first: { files: { 'c.yaml': map('c') } } },
      },
    ],
  },
  'dependsOn: taken back': {
    differs: ['messages of a dependency'],
    steps: [{ files: one, spec: on('absent') }, { spec: {} }],
  },
  'dependsOn: a circle': { steps: [{ files: one, spec: on('first'), more: { first: { files: b, spec: on('app') } } }] },
  'dependsOn: an expression that holds': {
    mayDiffer: ['messages of a dependency'],
    steps: [
      {
        files: one,
        spec: on('first', "dep.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"),
        more: { first: { files: b } },
      },
    ],
  },
  'dependsOn: an expression that does not hold': {
    differs: ['messages of a dependency'],
    steps: [{ files: one, spec: on('first', "dep.metadata.name == 'x'"), more: { first: { files: b } } }],
  },
  'dependsOn: an expression that is none': {
    differs: ['an invalid CEL expression'],
    mayDiffer: ['messages of a dependency'],
    steps: [{ files: one, spec: on('first', 'dep.metadata ==='), more: { first: { files: b } } }],
  },
  'dependsOn: deleted while it waits': {
    differs: ['messages of a dependency'],
    steps: [{ files: one, spec: on('absent') }, { isDeleted: true }],
  },
}
