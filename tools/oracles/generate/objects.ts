import type { Chance } from './chance.ts'
import type { Fields, Value } from './value.ts'
import { IMAGES, NAMESPACES, name, pairs, scalar, text } from './vocabulary.ts'

type Make = (chance: Chance) => Fields

function head(chance: Chance, apiVersion: string, kind: string, namespaced = true): Fields {
  const metadata: Fields = { name: name(chance) }
  if (namespaced ? chance.is(30) : chance.is(4)) metadata.namespace = chance.pick(NAMESPACES)
  if (chance.is(30)) metadata.labels = pairs(chance, 0, 2)
  if (chance.is(20)) metadata.annotations = pairs(chance, 0, 2, 25)
  return { apiVersion, kind, metadata }
}

function container(chance: Chance, index: number): Fields {
  return {
    name: ['main', 'side', 'main-2'][index]!,
    image: chance.pick(IMAGES),
    ...chance.maybe(25, 'ports', () =>
      chance.list(1, 2, () => ({
        containerPort: chance.pick([80, 443, 53]),
        ...chance.maybe(50, 'protocol', () => chance.pick(['TCP', 'UDP'])),
        ...chance.maybe(40, 'name', () => chance.pick(['http', 'dns'])),
      })),
    ),
    ...chance.maybe(40, 'env', () => chance.list(1, 3, () => variable(chance))),
    ...chance.maybe(25, 'envFrom', () => [
      {
        [chance.pick(['configMapRef', 'secretRef'])]: {
          name: name(chance),
          ...chance.maybe(20, 'optional', () => true),
        },
      },
    ]),
    ...chance.maybe(15, 'args', () => chance.list(0, 3, () => text(chance))),
    ...chance.maybe(20, 'volumeMounts', () => [{ name: 'data', mountPath: chance.pick(['/data', '/etc/x']) }]),
    ...chance.maybe(15, 'resources', () => ({ limits: { cpu: chance.pick<Value>([1, '500m', '1']), memory: '1Gi' } })),
  }
}

function variable(chance: Chance): Fields {
  const key = chance.pick(['A', 'B', 'PATH'])
  switch (chance.upTo(3)) {
    case 0:
      return { name: key, valueFrom: { configMapKeyRef: { name: name(chance), key: 'a' } } }
    case 1:
      return { name: key, valueFrom: { secretKeyRef: { name: name(chance), key: 'a' } } }
    default:
      return { name: key, value: chance.is(15) ? scalar(chance) : text(chance) }
  }
}

function volume(chance: Chance): Fields {
  switch (chance.upTo(4)) {
    case 0:
      return { name: 'data', configMap: { name: name(chance) } }
    case 1:
      return { name: 'data', secret: { secretName: name(chance) } }
    case 2:
      return { name: 'data', persistentVolumeClaim: { claimName: name(chance) } }
    case 3:
      return {
        name: 'data',
        projected: { sources: [{ configMap: { name: name(chance) } }, { secret: { name: name(chance) } }] },
      }
    default:
      return { name: 'data', emptyDir: {} }
  }
}

function podSpec(chance: Chance): Fields {
  return {
    containers: chance.list(1, 2, index => container(chance, index)),
    ...chance.maybe(15, 'initContainers', () => [container(chance, 2)]),
    ...chance.maybe(35, 'volumes', () => [volume(chance)]),
    ...chance.maybe(25, 'serviceAccountName', () => name(chance)),
    ...chance.maybe(15, 'imagePullSecrets', () => [{ name: name(chance) }]),
    ...chance.maybe(10, 'tolerations', () => [{ key: 'a', operator: 'Exists' }]),
    ...chance.maybe(8, 'topologySpreadConstraints', () => [
      {
        maxSkew: 1,
        topologyKey: 'zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'web' } },
      },
    ]),
    ...chance.maybe(8, 'affinity', () => ({
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'zone' },
        ],
      },
    })),
  }
}

const template = (chance: Chance): Fields => ({
  ...chance.maybe(80, 'metadata', () => ({
    labels: { app: 'web', ...pairs(chance, 0, 1) },
    ...chance.maybe(15, 'annotations', () => pairs(chance, 0, 2, 25)),
  })),
  spec: podSpec(chance),
})

const workload =
  (apiVersion: string, kind: string): Make =>
  chance => ({
    ...head(chance, apiVersion, kind),
    spec: {
      ...chance.maybe(50, 'replicas', () => (chance.is(8) ? scalar(chance) : chance.upTo(3))),
      ...chance.maybe(80, 'selector', () => ({ matchLabels: { app: 'web' } })),
      template: template(chance),
      ...(kind === 'StatefulSet' ? { serviceName: name(chance) } : {}),
      ...(kind === 'StatefulSet' && chance.is(50)
        ? { volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { storageClassName: name(chance) } }] }
        : {}),
    },
  })

const refersTo = (chance: Chance): Fields => ({
  kind: chance.pick(['Deployment', 'StatefulSet', 'MyKind']),
  name: name(chance),
})

function subjects(chance: Chance): Value {
  return chance.list(0, 2, () => ({
    kind: chance.pick(['ServiceAccount', 'ServiceAccount', 'User', 'Group']),
    name: chance.is(30) ? 'default' : name(chance),
    ...chance.maybe(60, 'namespace', () => chance.pick(NAMESPACES)),
  }))
}

const rules = (chance: Chance): Value => [
  {
    apiGroups: [''],
    resources: ['configmaps'],
    verbs: ['get'],
    ...chance.maybe(40, 'resourceNames', () => [name(chance)]),
  },
]

/** What clusters hold, every reference of which may hit a neighbour. */
export const KINDS: Readonly<Record<string, Make>> = {
  Deployment: workload('apps/v1', 'Deployment'),
  StatefulSet: workload('apps/v1', 'StatefulSet'),
  DaemonSet: workload('apps/v1', 'DaemonSet'),
  Pod: chance => ({ ...head(chance, 'v1', 'Pod'), spec: podSpec(chance) }),
  Job: chance => ({ ...head(chance, 'batch/v1', 'Job'), spec: { template: template(chance) } }),
  CronJob: chance => ({
    ...head(chance, 'batch/v1', 'CronJob'),
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template(chance) } } },
  }),
  Service: chance => ({
    ...head(chance, 'v1', 'Service'),
    spec: {
      ...chance.maybe(70, 'selector', () => ({ app: 'web' })),
      ports: chance.list(1, 2, () => ({
        port: chance.pick([80, 443]),
        ...chance.maybe(40, 'protocol', () => chance.pick(['TCP', 'UDP'])),
        ...chance.maybe(30, 'targetPort', () => chance.pick<Value>(['http', 8080])),
      })),
    },
  }),
  ConfigMap: chance => ({
    ...head(chance, 'v1', 'ConfigMap'),
    data: Object.fromEntries(
      chance.list(0, 3, () => [chance.pick(['a', 'b', 'c.yaml']), chance.is(20) ? scalar(chance) : text(chance)]),
    ),
  }),
  Secret: chance => ({
    ...head(chance, 'v1', 'Secret'),
    [chance.pick(['data', 'stringData'])]: { a: 'aGVsbG8=', ...chance.maybe(30, 'b', () => text(chance)) },
    ...chance.maybe(30, 'type', () => chance.pick(['Opaque', 'kubernetes.io/tls'])),
  }),
  ServiceAccount: chance => ({
    ...head(chance, 'v1', 'ServiceAccount'),
    ...chance.maybe(25, 'secrets', () => [{ name: name(chance) }]),
    ...chance.maybe(25, 'imagePullSecrets', () => [{ name: name(chance) }]),
  }),
  Namespace: chance => {
    const made = head(chance, 'v1', 'Namespace', false)
    return { ...made, metadata: { ...(made.metadata as Fields), name: chance.pick(NAMESPACES) } }
  },
  Role: chance => ({ ...head(chance, 'rbac.authorization.k8s.io/v1', 'Role'), rules: rules(chance) }),
  ClusterRole: chance => ({
    ...head(chance, 'rbac.authorization.k8s.io/v1', 'ClusterRole', false),
    rules: rules(chance),
  }),
  RoleBinding: chance => ({
    ...head(chance, 'rbac.authorization.k8s.io/v1', 'RoleBinding'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: chance.pick(['Role', 'ClusterRole']), name: name(chance) },
    ...chance.maybe(90, 'subjects', () => subjects(chance)),
  }),
  ClusterRoleBinding: chance => ({
    ...head(chance, 'rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', false),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: name(chance) },
    subjects: subjects(chance),
  }),
  Ingress: chance => ({
    ...head(chance, 'networking.k8s.io/v1', 'Ingress'),
    spec: {
      ...chance.maybe(40, 'tls', () => [{ hosts: ['a.example'], secretName: name(chance) }]),
      ...chance.maybe(30, 'ingressClassName', () => name(chance)),
      rules: [
        {
          host: 'a.example',
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: name(chance), port: { number: 80 } } } },
            ],
          },
        },
      ],
    },
  }),
  HorizontalPodAutoscaler: chance => ({
    ...head(chance, 'autoscaling/v2', 'HorizontalPodAutoscaler'),
    spec: { maxReplicas: 3, scaleTargetRef: { ...refersTo(chance), apiVersion: 'apps/v1' } },
  }),
  PersistentVolumeClaim: chance => ({
    ...head(chance, 'v1', 'PersistentVolumeClaim'),
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...chance.maybe(40, 'storageClassName', () => name(chance)),
      ...chance.maybe(30, 'volumeName', () => name(chance)),
    },
  }),
  PersistentVolume: chance => ({
    ...head(chance, 'v1', 'PersistentVolume', false),
    spec: { claimRef: { name: name(chance), ...chance.maybe(50, 'namespace', () => chance.pick(NAMESPACES)) } },
  }),
  StorageClass: chance => ({
    ...head(chance, 'storage.k8s.io/v1', 'StorageClass', false),
    provisioner: 'example.org/x',
  }),
  NetworkPolicy: chance => ({
    ...head(chance, 'networking.k8s.io/v1', 'NetworkPolicy'),
    spec: {
      podSelector: chance.is(50) ? { matchLabels: { app: 'web' } } : {},
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }],
    },
  }),
  PodDisruptionBudget: chance => ({
    ...head(chance, 'policy/v1', 'PodDisruptionBudget'),
    spec: { minAvailable: chance.pick<Value>([1, '50%']), selector: { matchLabels: { app: 'web' } } },
  }),
  CustomResourceDefinition: chance => ({
    ...head(chance, 'apiextensions.k8s.io/v1', 'CustomResourceDefinition', false),
    spec: {
      group: 'example.org',
      names: { kind: 'MyKind', plural: 'mykinds' },
      scope: chance.pick(['Cluster', 'Namespaced']),
    },
  }),
  APIService: chance => ({
    ...head(chance, 'apiregistration.k8s.io/v1', 'APIService', false),
    spec: { group: 'example.org', version: 'v1', service: { name: name(chance), namespace: chance.pick(NAMESPACES) } },
  }),
  ValidatingWebhookConfiguration: chance => ({
    ...head(chance, 'admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', false),
    webhooks: chance.list(1, 2, index => ({
      name: `w${index}.example.org`,
      clientConfig: { service: { name: name(chance), namespace: chance.pick(NAMESPACES), path: '/x' } },
    })),
  }),
  MyKind: chance => ({
    ...head(chance, 'example.org/v1', 'MyKind'),
    spec: {
      value: scalar(chance),
      list: chance.list(0, 3, () => scalar(chance)),
      items: chance.list(0, 2, index => ({ name: ['one', 'two'][index]!, value: scalar(chance) })),
      ref: { name: name(chance), kind: 'ConfigMap' },
      template: { metadata: { labels: pairs(chance, 0, 1) } },
      containers: [{ name: 'x', image: chance.pick(IMAGES) }],
      replicas: 1,
      selector: { app: 'web' },
    },
  }),
  HelmRelease: chance => ({
    ...head(chance, 'helm.toolkit.fluxcd.io/v2', 'HelmRelease'),
    spec: {
      interval: '1h',
      chartRef: { kind: 'OCIRepository', name: name(chance) },
      values: { image: { repository: 'nginx', tag: '1' }, replicas: 1, nested: { list: [1, 'two', { three: 3 }] } },
      ...chance.maybe(40, 'valuesFrom', () => [{ kind: chance.pick(['ConfigMap', 'Secret']), name: name(chance) }]),
      ...chance.maybe(20, 'dependsOn', () => [{ name: name(chance) }]),
    },
  }),
}

const COMMON = [
  'Deployment',
  'Deployment',
  'StatefulSet',
  'Service',
  'ConfigMap',
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'RoleBinding',
  'Ingress',
  'MyKind',
]

/** An object of any kind, common ones more often. */
export function object(chance: Chance): Fields {
  const kind = chance.is(60) ? chance.pick(COMMON) : chance.pick(Object.keys(KINDS))
  const made = KINDS[kind]!(chance)
  return chance.is(3) ? list(made, chance) : made
}

const list = (first: Fields, chance: Chance): Fields => ({
  apiVersion: 'v1',
  kind: chance.pick(['List', 'ConfigMapList']),
  items: [first, ...chance.list(0, 1, () => KINDS.ConfigMap!(chance))],
})
