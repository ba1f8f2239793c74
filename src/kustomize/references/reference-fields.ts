import type { FieldSpec } from '../model/field-spec.ts'

/** Fields of `referrers` hold names of objects of this kind; absent parts of the kind match everything. */
export interface ReferenceRule {
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  readonly referrers: readonly FieldSpec[]
}

const RBAC = 'rbac.authorization.k8s.io'
const ADMISSION = 'admissionregistration.k8s.io'

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
const ACCOUNT_KINDS = ['Pod', 'StatefulSet', 'Deployment', 'ReplicationController', 'CronJob', 'Job', 'DaemonSet']

function inPods(kinds: readonly string[], paths: readonly string[], podVersion?: string): FieldSpec[] {
  return kinds.flatMap(kind =>
    paths.map(path => ({
      kind,
      path: `${POD[kind]}/${path}`,
      ...(kind === 'Pod' && podVersion ? { version: podVersion } : {}),
    })),
  )
}

const inKind = (kind: string, paths: readonly string[], group?: string): FieldSpec[] =>
  paths.map(path => ({ kind, path, ...(group ? { group } : {}) }))

function sources(kind: 'configMap' | 'secret'): string[] {
  return ['containers', 'initContainers'].flatMap(list => [
    `${list}/env/valueFrom/${kind}KeyRef/name`,
    `${list}/envFrom/${kind}Ref/name`,
  ])
}

const SCALED = ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet']

/** The name references that kustomize 5.8.1 keeps right when a name changes (`nameReference` of its defaults). */
export const REFERENCE_RULES: readonly ReferenceRule[] = [
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
