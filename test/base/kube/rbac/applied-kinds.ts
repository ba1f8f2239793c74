import type { Json } from '../../../../src/kube/node.ts'
import { NAMESPACES } from './random-world.ts'

type JsonMap = { [key: string]: Json }

/** A kind with the smallest object of it that the API server takes. */
interface AppliedKind {
  readonly apiVersion: string
  readonly kind: string
  /** As the API server serves it; what Bailiwick makes of the kind is not asked here. */
  readonly resource: string
  readonly cluster?: boolean
  readonly body?: JsonMap
}

const SELECTOR = { matchLabels: { app: 'a' } }
const TEMPLATE = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'a', image: 'a' }] } }
const ONCE = { ...TEMPLATE, spec: { ...TEMPLATE.spec, restartPolicy: 'Never' } }
const WORKLOAD = { spec: { selector: SELECTOR, template: TEMPLATE } }
const PORTS = { spec: { ports: [{ port: 80 }] } }
const RBAC = 'rbac.authorization.k8s.io/v1'

export const RBAC_KINDS: readonly AppliedKind[] = [
  { apiVersion: RBAC, kind: 'Role', resource: 'roles' },
  { apiVersion: RBAC, kind: 'RoleBinding', resource: 'rolebindings' },
  { apiVersion: RBAC, kind: 'ClusterRole', resource: 'clusterroles', cluster: true },
  { apiVersion: RBAC, kind: 'ClusterRoleBinding', resource: 'clusterrolebindings', cluster: true },
]

export const NAMESPACE: AppliedKind = { apiVersion: 'v1', kind: 'Namespace', resource: 'namespaces', cluster: true }

export const KINDS: readonly AppliedKind[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', resource: 'configmaps' },
  { apiVersion: 'v1', kind: 'Secret', resource: 'secrets' },
  { apiVersion: 'v1', kind: 'Service', resource: 'services', body: PORTS },
  { apiVersion: 'v1', kind: 'ServiceAccount', resource: 'serviceaccounts' },
  { apiVersion: 'v1', kind: 'LimitRange', resource: 'limitranges', body: { spec: { limits: [] } } },
  { apiVersion: 'v1', kind: 'Pod', resource: 'pods', body: { spec: ONCE.spec } },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    resource: 'persistentvolumeclaims',
    body: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  },
  { apiVersion: 'apps/v1', kind: 'Deployment', resource: 'deployments', body: WORKLOAD },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', resource: 'daemonsets', body: WORKLOAD },
  { apiVersion: 'apps/v1', kind: 'StatefulSet', resource: 'statefulsets', body: WORKLOAD },
  { apiVersion: 'batch/v1', kind: 'Job', resource: 'jobs', body: { spec: { template: ONCE } } },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    resource: 'cronjobs',
    body: { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: ONCE } } } },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    resource: 'ingresses',
    body: { spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } } },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    resource: 'networkpolicies',
    body: { spec: { podSelector: {} } },
  },
  {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    resource: 'ingressclasses',
    cluster: true,
    body: { spec: { controller: 'example.com/a' } },
  },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', resource: 'poddisruptionbudgets', body: { spec: {} } },
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    resource: 'priorityclasses',
    cluster: true,
    body: { value: 1 },
  },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    resource: 'storageclasses',
    cluster: true,
    body: { provisioner: 'example.com/a' },
  },
  { apiVersion: 'example.com/v1', kind: 'Widget', resource: 'widgets' },
  { apiVersion: 'example.com/v1', kind: 'Datum', resource: 'data' },
  { apiVersion: 'example.com/v1', kind: 'ClusterWidget', resource: 'clusterwidgets', cluster: true },
  {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    resource: 'kustomizations',
    body: { spec: { interval: '1h', prune: true, sourceRef: { kind: 'GitRepository', name: 'a' } } },
  },
]

export const DEFINITION: AppliedKind = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  cluster: true,
}

/** The definition of a custom kind that takes every field. */
export function definition({ apiVersion, kind, resource, cluster = false }: AppliedKind): Json {
  const [group = '', version = ''] = apiVersion.split('/')
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: DEFINITION.apiVersion,
    kind: DEFINITION.kind,
    metadata: { name: `${resource}.${group}` },
    spec: {
      group,
      scope: cluster ? 'Cluster' : 'Namespaced',
      names: { kind, plural: resource },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
}

/** Definitions of the custom kinds that the cluster has. */
export const DEFINITIONS: readonly Json[] = KINDS.filter(({ apiVersion }) => /\.(?:com|io)\//.test(apiVersion))
  .filter(({ apiVersion }) => !apiVersion.includes('.k8s.io/'))
  .map(definition)

/** An object of a kind. */
export function objectOf({ apiVersion, kind, cluster, body = {} }: AppliedKind, namespace: string, name: string): Json {
  return { apiVersion, kind, metadata: cluster ? { name } : { namespace, name }, ...body }
}

/** What the cluster holds besides roles and bindings: an object `standing` of each kind in two of the namespaces. */
export const STANDING: readonly Json[] = [
  ...NAMESPACES.map(name => objectOf(NAMESPACE, '', name)),
  ...DEFINITIONS,
  ...KINDS.flatMap(kind =>
    (kind.cluster ? [''] : NAMESPACES.slice(0, 2)).map(namespace => objectOf(kind, namespace, 'standing')),
  ),
]

const BY_KIND = new Map(
  [...RBAC_KINDS, NAMESPACE, DEFINITION, ...KINDS].map(one => [`${one.apiVersion} ${one.kind}`, one]),
)

/** Where an object is, without its name. */
export function collectionOf(object: Json): string {
  const { apiVersion, kind, metadata } = object as {
    apiVersion: string
    kind: string
    metadata: { namespace?: string }
  }
  const inside = metadata.namespace ? `/namespaces/${metadata.namespace}` : ''
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return `${root}${inside}/${BY_KIND.get(`${apiVersion} ${kind}`)!.resource}`
}

/** The address of an object. */
export function urlOf(object: Json): string {
  return `${collectionOf(object)}/${encodeURIComponent((object as { metadata: { name: string } }).metadata.name)}`
}
