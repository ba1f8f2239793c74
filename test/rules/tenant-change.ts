import { seeded } from '../base/kube/rbac/random-world.ts'

/** Files of a tenant's repository after a random small change. */
export interface TenantChange {
  readonly files: Readonly<Record<string, string>>
}

const POD = '{containers: [{name: a, image: a}]}'

/** A kind with a body that the API server takes. */
const KINDS: readonly (readonly [apiVersion: string, kind: string, body: string])[] = [
  ['v1', 'ConfigMap', 'data: {a: b}'],
  ['v1', 'Secret', 'type: Opaque'],
  ['v1', 'Service', 'spec: {ports: [{port: 80}]}'],
  ['v1', 'ServiceAccount', 'automountServiceAccountToken: false'],
  ['v1', 'PersistentVolumeClaim', 'spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}'],
  ['v1', 'Namespace', ''],
  [
    'v1',
    'PersistentVolume',
    'spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: a.example.com, volumeHandle: a}}',
  ],
  ['v1', 'LimitRange', 'spec: {limits: [{type: Container, max: {cpu: 1}}]}'],
  [
    'apps/v1',
    'Deployment',
    `spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: ${POD}}}`,
  ],
  ['batch/v1', 'Job', `spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: a}]}}}`],
  ['networking.k8s.io/v1', 'NetworkPolicy', 'spec: {podSelector: {}}'],
  ['networking.k8s.io/v1', 'IngressClass', 'spec: {controller: example.com/a}'],
  ['storage.k8s.io/v1', 'StorageClass', 'provisioner: example.com/a'],
  ['scheduling.k8s.io/v1', 'PriorityClass', 'value: 1'],
  ['rbac.authorization.k8s.io/v1', 'Role', "rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]"],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', "rules: [{apiGroups: [''], resources: [configmaps], verbs: [get]}]"],
  [
    'rbac.authorization.k8s.io/v1',
    'RoleBinding',
    'roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]',
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'ClusterRoleBinding',
    'roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\nsubjects: [{kind: ServiceAccount, name: dev-team, namespace: apps}]',
  ],
  ['policy/v1', 'PodDisruptionBudget', 'spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}'],
  ['coordination.k8s.io/v1', 'Lease', 'spec: {holderIdentity: a}'],
  ['node.k8s.io/v1', 'RuntimeClass', 'handler: a'],
  [
    'apiregistration.k8s.io/v1',
    'APIService',
    'spec: {group: a.example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, insecureSkipTLSVerify: true, service: {name: a, namespace: apps}}',
  ],
  [
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    'spec: {group: b.example.com, scope: Namespaced, names: {kind: B, plural: x}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}',
  ],
  ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'webhooks: []'],
  ['example.com/v1', 'Widget', 'spec: {a: b}'],
  ['example.com/v1', 'ClusterWidget', 'spec: {a: b}'],
  ['elsewhere.example.com/v1', 'Gadget', 'spec: {a: b}'],
  ['elsewhere.example.com/v1', 'ClusterGadget', 'spec: {a: b}'],
]
const NAMESPACES = ['apps', 'apps', 'ops', 'kube-system', 'default', 'flux-system', '', undefined]

/** Random changes, the same for one seed. */
export class Draw {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = seeded(seed)
  }

  #one<T>(of: readonly T[]): T {
    return of[Math.floor(this.#next() * of.length)]!
  }

  change(): TenantChange {
    const object = this.#object()
    return {
      files: this.#one([plain, inList, byOverlay, byPatch, byComponent, byKustomization])(
        object,
        this.#one(NAMESPACES) ?? 'apps',
      ),
    }
  }

  #object(): string {
    const [apiVersion, kind, body] = this.#one(KINDS)
    const namespace = this.#one(NAMESPACES)
    const name =
      kind === 'CustomResourceDefinition' ? 'x.b.example.com' : kind === 'APIService' ? 'v1.a.example.com' : 'x'
    const inside = namespace === undefined ? '' : `, namespace: "${namespace}"`
    return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${name}${inside}}\n${body}\n`
  }
}

type Way = (object: string, namespace: string) => Readonly<Record<string, string>>

const plain: Way = object => ({
  'deploy/kustomization.yaml': 'resources: [web.yaml, x.yaml]\n',
  'deploy/x.yaml': object,
})

const inList: Way = object => ({
  'deploy/kustomization.yaml': 'resources: [web.yaml, x.yaml]\n',
  'deploy/x.yaml': `apiVersion: v1\nkind: List\nitems:\n- ${object.trimEnd().replaceAll('\n', '\n  ')}\n`,
})

const byOverlay: Way = (object, namespace) => ({
  'deploy/kustomization.yaml': 'resources: [web.yaml, inner]\n',
  'deploy/inner/kustomization.yaml': `namespace: "${namespace}"\nresources: [x.yaml]\n`,
  'deploy/inner/x.yaml': object,
})

const byPatch: Way = (object, namespace) => ({
  'deploy/kustomization.yaml': `resources: [web.yaml, x.yaml]\npatches:\n- target: {name: x}\n  patch: |\n    - {op: add, path: /metadata/namespace, value: "${namespace}"}\n`,
  'deploy/x.yaml': object,
})

const byComponent: Way = (object, namespace) => ({
  'deploy/kustomization.yaml': 'resources: [web.yaml, x.yaml]\ncomponents: [component]\n',
  'deploy/component/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnamespace: "${namespace}"\n`,
  'deploy/x.yaml': object,
})

const byKustomization: Way = (object, namespace) => ({
  'deploy/kustomization.yaml': 'resources: [web.yaml, more.yaml]\n',
  'deploy/more.yaml': `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: more, namespace: apps}\nspec:\n  serviceAccountName: dev-team\n  interval: 5m\n  prune: true\n  path: ./more\n  targetNamespace: "${namespace}"\n  sourceRef: {kind: GitRepository, name: dev-team}\n`,
  'more/x.yaml': object,
})
