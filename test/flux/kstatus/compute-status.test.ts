import { describe, expect, test } from 'vitest'
import { computeStatus } from '../../../src/flux/kstatus/compute-status.ts'
import type { Json } from '../../../src/kube/node.ts'

type Fields = { readonly [key: string]: Json }

const NOW = Date.parse('2026-01-02T03:04:05Z')
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString()

/** A live object that its controller has seen once, unless `metadata` says otherwise. */
function live(apiVersion: string, kind: string, status?: Fields, spec?: Fields, metadata: Fields = {}): Fields {
  return {
    apiVersion,
    kind,
    metadata: { name: 'test', namespace: 'qual', generation: 1, ...metadata },
    ...(spec ? { spec } : {}),
    ...(status ? { status } : {}),
  }
}

const conditions = (...list: readonly Fields[]) => ({ conditions: [...list] })
const condition = (type: string, status: string, reason?: string): Fields =>
  reason === undefined ? { type, status } : { type, status, reason }

type Case = readonly [string, Json, string, (string | undefined)?]

function holds(cases: readonly Case[]): void {
  for (const [name, object, status, reason] of cases) {
    test(name, () => {
      const { status: found, reason: why } = computeStatus(object, NOW)
      expect([found, why]).toEqual([status, reason])
    })
  }
}

const pod = (status?: Fields, metadata?: Fields) => live('v1', 'Pod', status, undefined, metadata)
const unschedulable = conditions(condition('PodScheduled', 'False', 'Unschedulable'))

describe('Pod', () => {
  holds([
    ['without a status', pod(), 'InProgress', 'PodNotObserved'],
    ['ready', pod({ phase: 'Running', ...conditions(condition('Ready', 'True')) }), 'Current'],
    ['completed', pod({ phase: 'Succeeded', ...conditions(condition('Ready', 'False', 'PodCompleted')) }), 'Current'],
    [
      'completed with a failure',
      pod({ phase: 'Failed', ...conditions(condition('Ready', 'False', 'PodCompleted')) }),
      'Current',
    ],
    [
      'about to be scheduled',
      pod({ phase: 'Pending', ...unschedulable }, { creationTimestamp: ago(5) }),
      'InProgress',
      'PodNotScheduled',
    ],
    [
      'not scheduled for long',
      pod({ phase: 'Pending', ...unschedulable }, { creationTimestamp: ago(16) }),
      'Failed',
      'PodUnschedulable',
    ],
    [
      'not scheduled since nobody knows when',
      pod({ phase: 'Pending', ...unschedulable }),
      'Failed',
      'PodUnschedulable',
    ],
    [
      'that crashes again and again',
      pod({
        phase: 'Running',
        ...unschedulable,
        containerStatuses: [{ name: 'nginx', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      }),
      'Failed',
      'ContainerCrashLooping',
    ],
    ['running and not ready', pod({ phase: 'Running' }), 'InProgress', 'PodRunningNotReady'],
    ['pending', pod({ phase: 'Pending' }), 'InProgress', 'PodPending'],
    ['of a phase that is none', pod({ phase: 'Odd' }), 'Unknown'],
  ])
})

describe('PersistentVolumeClaim', () => {
  holds([
    ['without a status', live('v1', 'PersistentVolumeClaim'), 'InProgress', 'NotBound'],
    ['bound', live('v1', 'PersistentVolumeClaim', { phase: 'Bound' }), 'Current'],
    ['lost', live('v1', 'PersistentVolumeClaim', { phase: 'Lost' }), 'InProgress', 'NotBound'],
  ])
})

const set = (status?: Fields, spec?: Fields) => live('apps/v1', 'StatefulSet', status, spec)
const four = { replicas: 4 }
const seen = { observedGeneration: 1 }

describe('StatefulSet', () => {
  const full = { ...seen, currentReplicas: 4, readyReplicas: 4, replicas: 4 }
  const partition = { replicas: 4, updateStrategy: { rollingUpdate: { partition: 2 } } }
  holds([
    ['without a status', set(), 'InProgress', 'LessReplicas'],
    ['with a poor status', set({ ...seen, currentReplicas: 1 }), 'InProgress', 'LessReplicas'],
    ['complete', set(full, four), 'Current'],
    ['with fewer ready', set({ ...full, readyReplicas: 2 }, four), 'InProgress', 'LessReady'],
    ['with fewer current', set({ ...full, currentReplicas: 2 }, four), 'InProgress', 'LessCurrent'],
    ['with more pods than it wants', set({ ...full, replicas: 8 }, four), 'InProgress', 'ExtraPods'],
    ['that its owner rolls', set({}, { ...four, updateStrategy: { type: 'OnDelete' } }), 'Current'],
    ['in a partition', set({ ...full, updatedReplicas: 1 }, partition), 'InProgress', 'PartitionRollout'],
    ['after a partition', set({ ...full, updatedReplicas: 2 }, partition), 'Current'],
    [
      'between two revisions',
      set({ ...full, currentRevision: 'a', updateRevision: 'b' }, four),
      'InProgress',
      'RevisionMismatch',
    ],
  ])
})

describe('DaemonSet', () => {
  const daemons = (status?: Fields, metadata?: Fields) => live('apps/v1', 'DaemonSet', status, undefined, metadata)
  const full = {
    ...{ ...seen, desiredNumberScheduled: 4, currentNumberScheduled: 4 },
    ...{ updatedNumberScheduled: 4, numberAvailable: 4, numberReady: 4 },
  }
  const { generation: _none, ...withoutGeneration } = { generation: 1, name: 'test' }
  holds([
    ['without a status', daemons(), 'InProgress', 'NoObservedGeneration'],
    ['with a poor status', daemons({ ...seen, currentReplicas: 1 }), 'InProgress', 'NoDesiredNumber'],
    ['complete', daemons(full), 'Current'],
    ['with fewer ready', daemons({ ...full, numberReady: 2 }), 'InProgress', 'LessReady'],
    ['not observed yet', daemons(full, { generation: 2 }), 'InProgress', 'LatestGenerationNotObserved'],
    ['with fewer available', daemons({ ...full, numberAvailable: 2 }), 'InProgress', 'LessAvailable'],
    ['with fewer updated', daemons({ ...full, updatedNumberScheduled: 2 }), 'InProgress', 'LessUpdated'],
    ['with fewer scheduled', daemons({ ...full, currentNumberScheduled: 2 }), 'InProgress', 'LessCurrent'],
    [
      'without a generation',
      { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: withoutGeneration, status: full },
      'InProgress',
      'NoGeneration',
    ],
  ])
})

describe('Deployment', () => {
  const deployment = (status?: Fields, spec?: Fields) => live('apps/v1', 'Deployment', status, spec)
  const one = { ...seen, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, replicas: 1 }
  const available = condition('Available', 'True')
  const progressing = condition('Progressing', 'True', 'NewReplicaSetAvailable')
  const done = { ...one, ...conditions(progressing, available) }
  holds([
    ['without a status', deployment(), 'InProgress', 'LessReplicas'],
    ['complete', deployment(done), 'Current'],
    [
      'that does not progress',
      deployment(
        { ...one, ...conditions(condition('Progressing', 'False', 'Some reason'), available) },
        { progressDeadlineSeconds: 45 },
      ),
      'InProgress',
      'ReplicaSetNotAvailable',
    ],
    ['without a deadline', deployment({ ...one, ...conditions(available) }), 'Current'],
    [
      'that is not available',
      deployment({ ...one, ...conditions(progressing, condition('Available', 'False')) }),
      'InProgress',
      'DeploymentNotAvailable',
    ],
    [
      'past its deadline',
      deployment({ ...one, ...conditions(condition('Progressing', 'False', 'ProgressDeadlineExceeded')) }),
      'Failed',
      'ProgressDeadlineExceeded',
    ],
    ['with fewer updated', deployment({ ...done, updatedReplicas: 0 }), 'InProgress', 'LessUpdated'],
    ['with fewer available', deployment({ ...done, availableReplicas: 0 }), 'InProgress', 'LessAvailable'],
    ['with fewer ready', deployment({ ...done, readyReplicas: 0 }), 'InProgress', 'LessReady'],
    ['with more pods than it wants', deployment({ ...done, replicas: 2 }), 'InProgress', 'ExtraPods'],
    ['of no replicas', deployment({ ...seen, ...conditions(progressing, available) }, { replicas: 0 }), 'Current'],
  ])
})

describe('ReplicaSet', () => {
  const replicas = (status?: Fields, spec?: Fields) => live('apps/v1', 'ReplicaSet', status, spec)
  const of = (count: number): Fields => ({
    ...{ ...seen, replicas: count, readyReplicas: count },
    ...{ availableReplicas: count, fullyLabeledReplicas: count },
  })
  const two = { replicas: 2 }
  holds([
    ['without a status', replicas(), 'InProgress', 'LessLabelled'],
    ['complete', replicas({ ...of(2), ...conditions(condition('ReplicaFailure', 'False')) }, two), 'Current'],
    ['complete without conditions', replicas(of(2), two), 'Current'],
    ['with fewer ready', replicas({ ...of(4), readyReplicas: 2 }, four), 'InProgress', 'LessReady'],
    ['with fewer available', replicas({ ...of(4), availableReplicas: 2 }, four), 'InProgress', 'LessAvailable'],
    [
      'with a failure',
      replicas({ ...of(4), ...conditions(condition('ReplicaFailure', 'True')) }, four),
      'InProgress',
      'ReplicaFailure',
    ],
    ['with more pods than it wants', replicas(of(4), two), 'InProgress', 'ExtraPods'],
  ])
})

describe('PodDisruptionBudget', () => {
  const budget = (generation: number) => live('policy/v1beta1', 'PodDisruptionBudget', seen, undefined, { generation })
  holds([
    ['not observed', budget(2), 'InProgress', 'LatestGenerationNotObserved'],
    ['observed', budget(1), 'Current'],
  ])
})

describe('any other kind', () => {
  const other = (status?: Fields, metadata?: Fields) => live('something/v1', 'MyCR', status, undefined, metadata)
  const said = (type: string, status: string) => conditions({ type, status, reason: 'Why', message: 'because' })
  holds([
    ['without a status', other(), 'Current'],
    ['not observed', other(seen, { generation: 2 }), 'InProgress', 'LatestGenerationNotObserved'],
    [
      'ready',
      other(conditions({ type: 'Ready', status: 'True', message: 'All looks ok', reason: 'AllOk' })),
      'Current',
    ],
    [
      'not ready',
      other({ ...seen, ...conditions(condition('Ready', 'False', 'NotReadyYet')) }),
      'InProgress',
      'NotReadyYet',
    ],
    ['with a condition of its own', other(conditions(condition('SomeCondition', 'False'))), 'Current'],
    ['of which it is not known', other(said('Ready', 'Unknown')), 'InProgress', 'Why'],
    ['with a Ready that is none', other(said('Ready', 'true')), 'Current'],
    ['reconciling', other(said('Reconciling', 'True')), 'InProgress', 'Why'],
    ['stalled', other(said('Stalled', 'True')), 'Failed', 'Why'],
    ['no more stalled', other(said('Stalled', 'False')), 'Current'],
    ['that is being deleted', other(said('Ready', 'True'), { deletionTimestamp: ago(1) }), 'Terminating'],
    ['with conditions that are no list', other({ conditions: 'Ready' }), 'Unknown'],
    ['with conditions that are no conditions', other({ conditions: [{ type: 'Ready', status: true }] }), 'Unknown'],
    ['with an observed generation that is a text', other({ observedGeneration: '1' }), 'Unknown'],
    ['with a status that is a text', { ...other(), status: 'ok' }, 'Unknown'],
    ['that is hardly an object', {}, 'Current'],
  ])
})

describe('Job, as Flux reads it', () => {
  const job = (status?: Fields, spec?: Fields) => live('batch/v1', 'Job', status, spec)
  const begun = { startTime: '2019-06-04T01:17:13Z' }
  const running = { ...begun, succeeded: 3, failed: 1, active: 2 }
  holds([
    ['without a status', job(), 'InProgress', 'JobNotStarted'],
    ['without a status, in parallel', job(undefined, { parallelism: 2 }), 'InProgress', 'JobNotStarted'],
    ['complete', job({ succeeded: 1, active: 0, ...conditions(condition('Complete', 'True')) }), 'Current'],
    [
      'failed',
      job({ succeeded: 3, failed: 1, ...conditions(condition('Failed', 'True', 'JobFailed')) }, { completions: 4 }),
      'Failed',
      'JobFailed',
    ],
    // kstatus itself calls a running Job current
    [
      'running',
      job(
        { ...running, ...conditions(condition('Failed', 'False'), condition('Complete', 'False')) },
        { completions: 10, parallelism: 2 },
      ),
      'InProgress',
      'JobInProgress',
    ],
    ['begun', job({ ...begun, active: 2, succeeded: 1, failed: 1 }), 'InProgress', 'JobInProgress'],
    ['suspended', job({}, { suspend: true }), 'Current'],
    ['with conditions that are none', job({ conditions: 'invalid' }), 'Unknown'],
    [
      'complete and being deleted',
      live('batch/v1', 'Job', conditions(condition('Complete', 'True')), {}, { deletionTimestamp: ago(1) }),
      'Current',
    ],
    ['of another group', live('example.com/v1', 'Job', begun), 'Current'],
  ])
})

describe('CronJob', () => {
  holds([
    ['without a status', live('batch/v1', 'CronJob'), 'Current'],
    ['with an empty status', { ...live('batch/v1', 'CronJob'), status: null }, 'Current'],
  ])
})

describe('Service', () => {
  const service = (spec?: Fields) => live('v1', 'Service', undefined, spec)
  holds([
    ['as it is by default', service(), 'Current'],
    ['of node ports', service({ type: 'NodePort' }), 'Current'],
    ['of a load balancer with an address', service({ type: 'LoadBalancer', clusterIP: '1.2.3.4' }), 'Current'],
    ['of a load balancer without one', service({ type: 'LoadBalancer' }), 'InProgress', 'NoIPAssigned'],
  ])
})

describe('CustomResourceDefinition', () => {
  const definition = (...list: readonly Fields[]) =>
    live('apiextensions.k8s.io/v1', 'CustomResourceDefinition', list.length > 0 ? conditions(...list) : undefined)
  const accepted = condition('NamesAccepted', 'True', 'NoConflicts')
  holds([
    ['without conditions', definition(), 'InProgress', 'Installing'],
    ['installing', definition(accepted, condition('Established', 'False', 'Installing')), 'InProgress', 'Installing'],
    ['whose names are taken', definition(condition('NamesAccepted', 'False', 'SomeReason')), 'Failed', 'SomeReason'],
    ['established', definition(accepted, condition('Established', 'True', 'InitialNamesAccepted')), 'Current'],
    ['that cannot be established', definition(accepted, condition('Established', 'False', 'Odd')), 'Failed', 'Odd'],
  ])
})

describe('always there', () => {
  holds([
    ['a ConfigMap', live('v1', 'ConfigMap'), 'Current'],
    ['a Secret', live('v1', 'Secret'), 'Current'],
    [
      'a Secret that is being deleted',
      live('v1', 'Secret', undefined, undefined, { deletionTimestamp: ago(1) }),
      'Terminating',
    ],
  ])
})

describe('of Flux', () => {
  const release = (status: Fields, metadata?: Fields) =>
    live('helm.toolkit.fluxcd.io/v2', 'HelmRelease', status, undefined, metadata)
  const stalled = { type: 'Stalled', status: 'True', reason: 'RetriesExceeded', message: 'gave up' }
  const ready = condition('Ready', 'False', 'InstallFailed')
  holds([
    ['a release that is ready', release({ ...seen, ...conditions(condition('Ready', 'True')) }), 'Current'],
    ['a release that is not', release({ ...seen, ...conditions(ready) }), 'InProgress', 'InstallFailed'],
    ['a release that gave up', release({ ...seen, ...conditions(ready, stalled) }), 'Failed', 'RetriesExceeded'],
    ['a release that nobody saw', release({ observedGeneration: -1 }), 'InProgress', 'LatestGenerationNotObserved'],
    [
      'a Kustomization that is at work',
      live('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', {
        ...seen,
        ...conditions(condition('Ready', 'Unknown', 'Progressing'), condition('Reconciling', 'True', 'Progressing')),
      }),
      'InProgress',
      'Progressing',
    ],
  ])
})

test('the texts are those of kstatus, which users search for', () => {
  const said = (object: Json) => computeStatus(object, NOW).message
  const one = { ...seen, replicas: 1, updatedReplicas: 1 }
  expect(said(live('apps/v1', 'Deployment', one))).toBe('Available: 0/1')
  expect(said(live('apps/v1', 'Deployment', seen, undefined, { generation: 3 }))).toBe(
    'Deployment generation is 3, but latest observed generation is 1',
  )
  expect(said(live('batch/v1', 'Job', {}, { parallelism: 3 }))).toBe('Job not started. active: 0/3')
  expect(said(live('v1', 'PersistentVolumeClaim'))).toBe('PVC is not Bound. phase: unknown')
})
