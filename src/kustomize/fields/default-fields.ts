import type { FieldSpec } from '../model/field-spec.ts'

/** Where builtin transformers other than those of references write (builtinpluginconsts, 5.8.1). */
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

const LABELS_PATH = 'spec/template/metadata/labels'

/** An object's own labels. */
export const METADATA_LABELS: FieldSpec = { path: 'metadata/labels', create: true }

/** Where pod templates and claims carry labels, beside an object's own (kustomize's `templateLabels`, 5.8.1). */
export const TEMPLATE_LABELS: readonly FieldSpec[] = [
  { path: LABELS_PATH, create: true, version: 'v1', kind: 'ReplicationController' },
  { path: LABELS_PATH, create: true, kind: 'Deployment' },
  { path: LABELS_PATH, create: true, kind: 'ReplicaSet' },
  { path: LABELS_PATH, create: true, kind: 'DaemonSet' },
  { path: LABELS_PATH, create: true, group: 'apps', kind: 'StatefulSet' },
  { path: 'spec/volumeClaimTemplates[]/metadata/labels', create: true, group: 'apps', kind: 'StatefulSet' },
  { path: LABELS_PATH, create: true, group: 'batch', kind: 'Job' },
  { path: 'spec/jobTemplate/metadata/labels', create: true, group: 'batch', kind: 'CronJob' },
  { path: 'spec/jobTemplate/spec/template/metadata/labels', create: true, group: 'batch', kind: 'CronJob' },
]

const AFFINITY = ['podAffinity', 'podAntiAffinity'].flatMap(kind => [
  `affinity/${kind}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels`,
  `affinity/${kind}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels`,
])

/** Where labels select something (the rest of kustomize's `commonLabels`, 5.8.1). */
export const SELECTOR_LABELS: readonly FieldSpec[] = [
  { path: 'spec/selector', create: true, version: 'v1', kind: 'Service' },
  { path: 'spec/selector', create: true, version: 'v1', kind: 'ReplicationController' },
  { path: 'spec/selector/matchLabels', create: true, kind: 'Deployment' },
  { path: 'spec/selector/matchLabels', create: true, kind: 'ReplicaSet' },
  { path: 'spec/selector/matchLabels', create: true, kind: 'DaemonSet' },
  { path: 'spec/selector/matchLabels', create: true, group: 'apps', kind: 'StatefulSet' },
  ...['Deployment', 'StatefulSet'].flatMap(kind =>
    [...AFFINITY, 'topologySpreadConstraints/labelSelector/matchLabels'].map(path => ({
      path: `spec/template/spec/${path}`,
      group: 'apps',
      kind,
    })),
  ),
  { path: 'spec/selector/matchLabels', group: 'batch', kind: 'Job' },
  { path: 'spec/jobTemplate/spec/selector/matchLabels', group: 'batch', kind: 'CronJob' },
  { path: 'spec/selector/matchLabels', group: 'policy', kind: 'PodDisruptionBudget' },
  { path: 'spec/podSelector/matchLabels', group: 'networking.k8s.io', kind: 'NetworkPolicy' },
  { path: 'spec/ingress/from/podSelector/matchLabels', group: 'networking.k8s.io', kind: 'NetworkPolicy' },
  { path: 'spec/egress/to/podSelector/matchLabels', group: 'networking.k8s.io', kind: 'NetworkPolicy' },
]
