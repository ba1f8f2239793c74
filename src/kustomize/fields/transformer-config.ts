import type { FieldSpec } from '../resource/field-spec.ts'

/**
 * Which fields each builtin transformer writes to: kustomize's defaults, and what `configurations` files add
 * (api/internal/plugins/builtinconfig/transformerconfig.go).
 */
export interface TransformerConfig {
  readonly namePrefix: readonly FieldSpec[]
  readonly nameSuffix: readonly FieldSpec[]
  readonly namespace: readonly FieldSpec[]
  readonly commonLabels: readonly FieldSpec[]
  /** What `configurations` add for the field `labels`; the labels of the metadata are not among them. */
  readonly labels: readonly FieldSpec[]
  readonly templateLabels: readonly FieldSpec[]
  readonly commonAnnotations: readonly FieldSpec[]
  readonly nameReference: readonly ReferenceRule[]
  readonly images: readonly FieldSpec[]
  readonly replicas: readonly FieldSpec[]
}

/** The lists of field specs in it. */
export const FIELD_LISTS = [
  'namePrefix',
  'nameSuffix',
  'namespace',
  'commonLabels',
  'labels',
  'templateLabels',
  'commonAnnotations',
  'images',
  'replicas',
] as const

export const EMPTY_CONFIG: TransformerConfig = {
  namePrefix: [],
  nameSuffix: [],
  namespace: [],
  commonLabels: [],
  labels: [],
  templateLabels: [],
  commonAnnotations: [],
  nameReference: [],
  images: [],
  replicas: [],
}

/** Where builtin transformers other than those of references write (builtinpluginconsts, 5.8.1). */
const NAME_FIELDS: readonly FieldSpec[] = [{ path: 'metadata/name' }]

const NAMESPACE_FIELDS: readonly FieldSpec[] = [
  { path: 'metadata/name', kind: 'Namespace', create: true },
  { path: 'spec/service/namespace', group: 'apiregistration.k8s.io', kind: 'APIService', create: true },
  {
    path: 'spec/conversion/webhook/clientConfig/service/namespace',
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
  },
]

const AFFINITY = ['podAffinity', 'podAntiAffinity'].flatMap(kind => [
  `affinity/${kind}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels`,
  `affinity/${kind}/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels`,
])

/** Where labels select something (the rest of kustomize's `commonLabels`, 5.8.1). */
const SELECTOR_LABELS: readonly FieldSpec[] = [
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

/** An object's own labels. */
export const METADATA_LABELS: FieldSpec = { path: 'metadata/labels', create: true }

const LABELS_PATH = 'spec/template/metadata/labels'

/** Where pod templates and claims carry labels, beside an object's own (kustomize's `templateLabels`, 5.8.1). */
const TEMPLATE_LABELS: readonly FieldSpec[] = [
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

const TEMPLATE = 'spec/template/metadata/annotations'

const ANNOTATION_FIELDS: readonly FieldSpec[] = [
  { path: 'metadata/annotations', create: true },
  { path: TEMPLATE, create: true, version: 'v1', kind: 'ReplicationController' },
  ...['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].map(kind => ({ path: TEMPLATE, create: true, kind })),
  { path: TEMPLATE, create: true, group: 'batch', kind: 'Job' },
  { path: 'spec/jobTemplate/metadata/annotations', create: true, group: 'batch', kind: 'CronJob' },
  { path: 'spec/jobTemplate/spec/template/metadata/annotations', create: true, group: 'batch', kind: 'CronJob' },
]

const SCALED = ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet']

const inKind = (kind: string, paths: readonly string[], group?: string): FieldSpec[] =>
  paths.map(path => ({ kind, path, ...(group ? { group } : {}) }))

/** Where the pod spec stands in each kind that has one. */
const POD: Readonly<Record<string, string>> = {
  Pod: 'spec',
  PodTemplate: 'template/spec',
  Deployment: 'spec/template/spec',
  ReplicaSet: 'spec/template/spec',
  DaemonSet: 'spec/template/spec',
  StatefulSet: 'spec/template/spec',
  ReplicationController: 'spec/template/spec',
  Job: 'spec/template/spec',
  CronJob: 'spec/jobTemplate/spec/template/spec',
}
const CONFIG_KINDS = ['Pod', 'PodTemplate', 'Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet', 'Job', 'CronJob']

const ADMISSION = 'admissionregistration.k8s.io'

const RBAC = 'rbac.authorization.k8s.io'

const ACCOUNT_KINDS = ['Pod', 'StatefulSet', 'Deployment', 'ReplicationController', 'CronJob', 'Job', 'DaemonSet']

/** The name references that kustomize 5.8.1 keeps right when a name changes (`nameReference` of its defaults). */
const REFERENCE_RULES: readonly ReferenceRule[] = [
  ...SCALED.map(kind => ({ kind, referrers: inKind('HorizontalPodAutoscaler', ['spec/scaleTargetRef/name']) })),
  {
    kind: 'ConfigMap',
    version: 'v1',
    referrers: [
      ...inPods(
        CONFIG_KINDS,
        [...sources('configMap'), 'volumes/configMap/name', 'volumes/projected/sources/configMap/name'],
        'v1',
      ),
      ...inKind('Node', ['spec/configSource/configMap']),
      ...inKind('Role', ['rules/resourceNames']),
      ...inKind('ClusterRole', ['rules/resourceNames']),
      ...inKind('Ingress', ['metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap']),
    ],
  },
  {
    kind: 'Secret',
    version: 'v1',
    referrers: [
      ...inPods(
        CONFIG_KINDS,
        [
          ...sources('secret'),
          'volumes/secret/secretName',
          'volumes/projected/sources/secret/name',
          'imagePullSecrets/name',
        ],
        'v1',
      ),
      ...inKind('Ingress', [
        'spec/tls/secretName',
        'metadata/annotations/ingress.kubernetes.io\\/auth-secret',
        'metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret',
        'metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret',
      ]),
      ...inKind('ServiceAccount', ['imagePullSecrets/name']),
      ...inKind('PersistentVolume', ['spec/azureFile/secretName']),
      {
        kind: 'Service',
        group: 'serving.knative.dev',
        version: 'v1',
        path: 'spec/template/spec/containers/env/valueFrom/secretKeyRef/name',
      },
      ...inKind(
        'StorageClass',
        ['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map(name => `parameters/${name}`),
      ),
      ...inKind('Role', ['rules/resourceNames']),
      ...inKind('ClusterRole', ['rules/resourceNames']),
    ],
  },
  {
    kind: 'Service',
    version: 'v1',
    referrers: [
      ...inKind('StatefulSet', ['spec/serviceName'], 'apps'),
      ...inKind('Ingress', [
        'spec/rules/http/paths/backend/serviceName',
        'spec/backend/serviceName',
        'spec/rules/http/paths/backend/service/name',
        'spec/defaultBackend/service/name',
      ]),
      ...inKind('APIService', ['spec/service/name'], 'apiregistration.k8s.io'),
      ...inKind('ValidatingWebhookConfiguration', ['webhooks/clientConfig/service'], ADMISSION),
      ...inKind('MutatingWebhookConfiguration', ['webhooks/clientConfig/service'], ADMISSION),
    ],
  },
  { kind: 'Role', group: RBAC, referrers: inKind('RoleBinding', ['roleRef/name'], RBAC) },
  {
    kind: 'ClusterRole',
    group: RBAC,
    referrers: [
      ...inKind('RoleBinding', ['roleRef/name'], RBAC),
      ...inKind('ClusterRoleBinding', ['roleRef/name'], RBAC),
    ],
  },
  {
    kind: 'ServiceAccount',
    version: 'v1',
    referrers: [
      ...inKind('RoleBinding', ['subjects'], RBAC),
      ...inKind('ClusterRoleBinding', ['subjects'], RBAC),
      ...inPods(ACCOUNT_KINDS, ['serviceAccountName']),
    ],
  },
  {
    kind: 'PersistentVolumeClaim',
    version: 'v1',
    referrers: inPods(ACCOUNT_KINDS, ['volumes/persistentVolumeClaim/claimName']),
  },
  {
    kind: 'PersistentVolume',
    version: 'v1',
    referrers: [
      ...inKind('PersistentVolumeClaim', ['spec/volumeName']),
      ...inKind('ClusterRole', ['rules/resourceNames']),
    ],
  },
  {
    kind: 'StorageClass',
    version: 'v1',
    group: 'storage.k8s.io',
    referrers: [
      ...inKind('PersistentVolume', ['spec/storageClassName']),
      ...inKind('PersistentVolumeClaim', ['spec/storageClassName']),
      ...inKind('StatefulSet', ['spec/volumeClaimTemplates/spec/storageClassName']),
    ],
  },
  {
    kind: 'PriorityClass',
    version: 'v1',
    group: 'scheduling.k8s.io',
    referrers: inPods(ACCOUNT_KINDS, ['priorityClassName']),
  },
  {
    kind: 'IngressClass',
    version: 'v1',
    group: 'networking.k8s.io/v1',
    referrers: inKind('Ingress', ['spec/ingressClassName']),
  },
  {
    kind: 'ValidatingAdmissionPolicy',
    group: ADMISSION,
    referrers: inKind('ValidatingAdmissionPolicyBinding', ['spec/policyName'], ADMISSION),
  },
]

const IMAGE_FIELDS: readonly FieldSpec[] = ['spec', 'spec/template/spec'].flatMap(pod =>
  ['containers[]/image', 'initContainers[]/image', 'volumes[]/image/reference'].map(path => ({
    path: `${pod}/${path}`,
    create: true,
  })),
)

const REPLICA_FIELDS: readonly FieldSpec[] = ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map(
  kind => ({ path: 'spec/replicas', create: true, kind }),
)

/** What holds where no `configurations` say more. */
export const DEFAULT_CONFIG: TransformerConfig = {
  namePrefix: NAME_FIELDS,
  nameSuffix: NAME_FIELDS,
  namespace: NAMESPACE_FIELDS,
  commonLabels: [...SELECTOR_LABELS, METADATA_LABELS, ...TEMPLATE_LABELS],
  labels: [],
  templateLabels: [METADATA_LABELS, ...TEMPLATE_LABELS],
  commonAnnotations: ANNOTATION_FIELDS,
  nameReference: REFERENCE_RULES,
  images: IMAGE_FIELDS,
  replicas: REPLICA_FIELDS,
}

/** Fields of `referrers` hold names of objects of this kind; absent parts of the kind match everything. */
export interface ReferenceRule {
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  readonly referrers: readonly FieldSpec[]
}

function inPods(kinds: readonly string[], paths: readonly string[], podVersion?: string): FieldSpec[] {
  return kinds.flatMap(kind =>
    paths.map(path => ({
      kind,
      path: `${POD[kind]}/${path}`,
      ...(kind === 'Pod' && podVersion ? { version: podVersion } : {}),
    })),
  )
}

function sources(kind: 'configMap' | 'secret'): string[] {
  return ['containers', 'initContainers'].flatMap(list => [
    `${list}/env/valueFrom/${kind}KeyRef/name`,
    `${list}/envFrom/${kind}Ref/name`,
  ])
}
