import type { FieldSpec } from '../model/kustomization.ts'

/** Where builtin transformers other than those of labels and references write (builtinpluginconsts, 5.8.1). */
export const NAME_FIELDS: readonly FieldSpec[] = [{ path: 'metadata/name' }]

export const NAMESPACE_FIELDS: readonly FieldSpec[] = [
  { path: 'metadata/name', kind: 'Namespace', create: true },
  { path: 'spec/service/namespace', group: 'apiregistration.k8s.io', kind: 'APIService', create: true },
  {
    path: 'spec/conversion/webhook/clientConfig/service/namespace',
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
  },
]

const TEMPLATE = 'spec/template/metadata/annotations'

export const ANNOTATION_FIELDS: readonly FieldSpec[] = [
  { path: 'metadata/annotations', create: true },
  { path: TEMPLATE, create: true, version: 'v1', kind: 'ReplicationController' },
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].map(kind => ({ path: TEMPLATE, create: true, kind })),
  { path: TEMPLATE, create: true, group: 'batch', kind: 'Job' },
  { path: 'spec/jobTemplate/metadata/annotations', create: true, group: 'batch', kind: 'CronJob' },
  { path: 'spec/jobTemplate/spec/template/metadata/annotations', create: true, group: 'batch', kind: 'CronJob' },
]

export const IMAGE_FIELDS: readonly FieldSpec[] = ['spec', 'spec/template/spec'].flatMap(pod =>
  ['containers[]/image', 'initContainers[]/image', 'volumes[]/image/reference'].map(path => ({
    path: `${pod}/${path}`,
    create: true,
  })),
)

export const REPLICA_FIELDS: readonly FieldSpec[] = [
  'Deployment',
  'ReplicationController',
  'ReplicaSet',
  'StatefulSet',
].map(kind => ({ path: 'spec/replicas', create: true, kind }))
