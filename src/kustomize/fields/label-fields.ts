import type { FieldSpec } from '../model/kustomization.ts'

const TEMPLATE = 'spec/template/metadata/labels'

/** An object's own labels. */
export const METADATA_LABELS: FieldSpec = { path: 'metadata/labels', create: true }

/** Where pod templates and claims carry labels, beside an object's own (kustomize's `templateLabels`, 5.8.1). */
export const TEMPLATE_LABELS: readonly FieldSpec[] = [
  { path: TEMPLATE, create: true, version: 'v1', kind: 'ReplicationController' },
  { path: TEMPLATE, create: true, kind: 'Deployment' },
  { path: TEMPLATE, create: true, kind: 'ReplicaSet' },
  { path: TEMPLATE, create: true, kind: 'DaemonSet' },
  { path: TEMPLATE, create: true, group: 'apps', kind: 'StatefulSet' },
  { path: 'spec/volumeClaimTemplates[]/metadata/labels', create: true, group: 'apps', kind: 'StatefulSet' },
  { path: TEMPLATE, create: true, group: 'batch', kind: 'Job' },
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
