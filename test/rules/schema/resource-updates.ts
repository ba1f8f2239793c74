import { meta, POD } from './update-parts.ts'
import type { Update } from './updates.ts'

/** Updates of volumes, claims, load balancers and Jobs. */
export const RESOURCE_UPDATES: readonly Update[] = [
  ...[
    [
      'modes of a CSIDriver',
      'volumeLifecycleModes: [Persistent]',
      'volumeLifecycleModes: [Persistent, Ephemeral]',
      'spec.volumeLifecycleModes.1',
    ],
    [
      'modes of a CSIDriver, written as the default',
      'podInfoOnMount: true',
      'podInfoOnMount: true, volumeLifecycleModes: [Persistent]',
      '',
    ],
  ].map(
    ([what, from, to, path]) =>
      [
        what!,
        `apiVersion: storage.k8s.io/v1\nkind: CSIDriver\n${meta('up')}spec: {${from}}\n`,
        from!,
        to!,
        path!,
      ] as const,
  ),
  ...[
    [
      'limits of a claim',
      'requests: {storage: 1Gi}',
      'requests: {storage: 1Gi}, limits: {storage: 3Gi}',
      'spec.resources.limits',
    ],
    [
      'source of a claim',
      'dataSourceRef: {kind: PersistentVolumeClaim, name: a}',
      'dataSourceRef: {kind: PersistentVolumeClaim, name: b}',
      'spec.dataSourceRef.name',
    ],
    ['a smaller claim', 'requests: {storage: 1Gi}', 'requests: {storage: 900Mi}', 'spec.resources.requests.storage'],
    ['a claim of the same size', 'requests: {storage: 1Gi}', 'requests: {storage: 1024Mi}', ''],
  ].map(
    ([what, from, to, path]) =>
      [
        what!,
        `apiVersion: v1\nkind: PersistentVolumeClaim\n${meta('up')}spec: {dataSourceRef: {kind: PersistentVolumeClaim, name: a}, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n`,
        from!,
        to!,
        path!,
      ] as const,
  ),
  ...[
    ['class of a load balancer', 'a.example.com/x', 'a.example.com/y', 'spec.loadBalancerClass'],
    ['a load balancer without its class', 'loadBalancerClass: a.example.com/x, ', '', 'spec.loadBalancerClass'],
    ['its type', 'type: LoadBalancer, loadBalancerClass: a.example.com/x', 'type: ClusterIP', ''],
  ].map(
    ([what, from, to, path]) =>
      [
        what!,
        `apiVersion: v1\nkind: Service\n${meta('up')}spec: {type: LoadBalancer, loadBalancerClass: a.example.com/x, ports: [{port: 80}]}\n`,
        from!,
        to!,
        path!,
      ] as const,
  ),
  [
    'port of the health checks of a load balancer',
    `apiVersion: v1\nkind: Service\n${meta('up')}spec: {type: LoadBalancer, externalTrafficPolicy: Local, healthCheckNodePort: 31234, ports: [{port: 80}]}\n`,
    'healthCheckNodePort: 31234',
    'healthCheckNodePort: 31235',
    'spec.healthCheckNodePort',
  ],
  [
    'first family of a Service',
    `apiVersion: v1\nkind: Service\n${meta('up')}spec: {ipFamilies: [IPv4], ports: [{port: 80}]}\n`,
    'IPv4',
    'IPv6',
    'spec.ipFamilies.0',
  ],
  ...[
    ['number of Pods of a Job', 'completions: 2', 'completions: 3', 'spec.completions'],
    ['number of Pods of a Job, removed', 'completions: 2', 'parallelism: 1', 'spec.completions'],
    ['Pods of a Job at a time', 'completions: 2', 'completions: 2, parallelism: 2', ''],
  ].map(
    ([what, from, to, path]) =>
      [
        what!,
        `apiVersion: batch/v1\nkind: Job\n${meta('up')}spec: {${from}, template: {${POD}}}\n`,
        from!,
        to!,
        path!,
      ] as const,
  ),
  [
    'number of Pods of an indexed Job',
    `apiVersion: batch/v1\nkind: Job\n${meta('up')}spec: {completionMode: Indexed, completions: 2, parallelism: 2, template: {${POD}}}\n`,
    'completions: 2, parallelism: 2',
    'completions: 3, parallelism: 3',
    '',
  ],
  [
    'number of Pods of an indexed Job, without those at a time',
    `apiVersion: batch/v1\nkind: Job\n${meta('up')}spec: {completionMode: Indexed, completions: 2, parallelism: 2, template: {${POD}}}\n`,
    'completions: 2',
    'completions: 3',
    'spec.completions',
  ],
  [
    'a Job that names its default number of Pods',
    `apiVersion: batch/v1\nkind: Job\n${meta('up')}spec: {backoffLimit: 2, template: {${POD}}}\n`,
    'backoffLimit: 2',
    'backoffLimit: 2, completions: 1',
    '',
  ],
  ...[
    [
      'nodes of a PersistentVolume',
      'values: [a]',
      'values: [b]',
      'spec.nodeAffinity.required.nodeSelectorTerms.0.matchExpressions.0.values.0',
    ],
  ].map(
    ([what, from, to, path]) =>
      [
        what!,
        `apiVersion: v1\nkind: PersistentVolume\n${meta('up')}spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], nfs: {server: a, path: /b}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a]}]}]}}}\n`,
        from!,
        to!,
        path!,
      ] as const,
  ),
  [
    'nodes of a PersistentVolume that has none',
    `apiVersion: v1\nkind: PersistentVolume\n${meta('up')}spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], nfs: {server: a, path: /b}}\n`,
    'nfs:',
    'nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a]}]}]}}, nfs:',
    '',
  ],
  [
    'node of a VolumeAttachment',
    `apiVersion: storage.k8s.io/v1\nkind: VolumeAttachment\n${meta('up')}spec: {attacher: a.example.com, nodeName: a, source: {persistentVolumeName: b}}\n`,
    'nodeName: a',
    'nodeName: c',
    'spec.nodeName',
  ],
  [
    'class of a CSIStorageCapacity',
    `apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\n${meta('up')}storageClassName: a\n`,
    'storageClassName: a',
    'storageClassName: b',
    'storageClassName',
  ],
]
