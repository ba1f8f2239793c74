/** For whom a plant works: the tenant whose area it is, or the one that it is to help. */
export interface Beneficiary {
  /** Whether the area is the tenant's own. */
  readonly isTenant: boolean
  /** '' where the fleet has no tenant: then it is the default account of the namespace `default`. */
  readonly tenant: string
  readonly namespace: string
  readonly account: string
}

/** What a fleet has that decides whether an attack of the platform's own reaches anything. */
export interface Target {
  readonly hasTenants: boolean
  readonly hasDefaultAccount: boolean
  readonly hasLockdown: boolean
}

/** Something that never goes in unnoticed. */
export interface PlantedAttack {
  readonly name: string
  readonly manifest: (by: Beneficiary, url: string, branch: string) => string
  /** Whether it is one in a folder that the platform itself applies, visibly: it may make itself cluster-admin. */
  readonly countsForPlatform: (target: Target) => boolean
}

/** Name of every planted object, by which it is found again. */
export const PLANTED = 'bailiwick-planted'
/** What planted Kustomizations apply: an object outside of every tenant's namespaces. */
export const PLANTED_APP: readonly [path: string, text: string] = [
  `${PLANTED}/config.yaml`,
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${PLANTED}, namespace: kube-system}\n`,
]

const RBAC = 'rbac.authorization.k8s.io'
const object = (apiVersion: string, kind: string, namespace: string, rest: string) =>
  `---\napiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: ${PLANTED}${namespace && `, namespace: ${namespace}`}}\n${rest}\n`
const binding = (kind: string, namespace: string, role: string, { account, namespace: own }: Beneficiary) =>
  object(
    `${RBAC}/v1`,
    kind,
    namespace,
    `roleRef: {apiGroup: ${RBAC}, kind: ClusterRole, name: ${role}}
subjects: [{kind: ServiceAccount, name: ${account}, namespace: ${own}}]`,
  )
const source = (namespace: string, url: string, branch: string, more = '') =>
  object(
    'source.toolkit.fluxcd.io/v1',
    'GitRepository',
    namespace,
    `spec: {interval: 1m, url: "${url}", ref: {branch: "${branch}"}${more}}`,
  )
const kustomization = (namespace: string, path: string, more: string) =>
  object(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    namespace,
    `spec: {interval: 5m, prune: true, path: "${path}", sourceRef: {kind: GitRepository, name: ${PLANTED}}${more}}`,
  )
const never = () => false
const always = () => true
const withTenants = ({ hasTenants }: Target) => hasTenants

/** The same ten in every area. */
export const ATTACKS: readonly PlantedAttack[] = [
  {
    name: 'cluster-admin',
    manifest: by => binding('ClusterRoleBinding', '', 'cluster-admin', by),
    countsForPlatform: withTenants,
  },
  {
    name: 'privileged-pod',
    manifest: ({ namespace }) =>
      object(
        'v1',
        'Pod',
        namespace,
        `spec:
  hostPID: true
  volumes: [{name: host, hostPath: {path: /}}]
  containers: [{name: a, image: "alpine:3", securityContext: {privileged: true}, volumeMounts: [{name: host, mountPath: /host}]}]`,
      ),
    countsForPlatform: never,
  },
  {
    name: 'foreign-binding',
    manifest: by => binding('RoleBinding', 'kube-system', 'admin', by),
    countsForPlatform: withTenants,
  },
  {
    name: 'no-account',
    manifest: ({ namespace }, url, branch) =>
      source(namespace, url, branch) + kustomization(namespace, `./${PLANTED}`, ''),
    countsForPlatform: ({ hasTenants, hasDefaultAccount }) => hasTenants && !hasDefaultAccount,
  },
  {
    name: 'stranger-source',
    manifest: ({ isTenant, namespace, account }) => {
      const [where, as] = isTenant ? [namespace, account] : ['flux-system', 'kustomize-controller']
      const url = 'https://github.com/bailiwick-stranger/planted'
      return (
        source(where, url, 'main', ', secretRef: {name: flux-system}') +
        kustomization(where, './', `, serviceAccountName: ${as}`)
      )
    },
    countsForPlatform: always,
  },
  {
    name: 'namespace-takeover',
    manifest: ({ tenant }) =>
      `---\napiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, labels: {toolkit.fluxcd.io/tenant: ${tenant || PLANTED}}}\n`,
    countsForPlatform: withTenants,
  },
  {
    // beside the controller that the fleet locks down, one that obeys the same objects without any limit
    name: 'lockdown',
    manifest: () => `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${PLANTED}, namespace: flux-system}
spec:
  selector: {matchLabels: {app: ${PLANTED}}}
  template:
    metadata: {labels: {app: ${PLANTED}}}
    spec:
      serviceAccountName: kustomize-controller
      containers: [{name: manager, image: "ghcr.io/fluxcd/kustomize-controller:v1.7.0", args: [--watch-all-namespaces=true]}]
`,
    countsForPlatform: ({ hasLockdown }) => hasLockdown,
  },
  {
    name: 'aggregation',
    manifest: () => `---
apiVersion: ${RBAC}/v1
kind: ClusterRole
metadata: {name: ${PLANTED}, labels: {${RBAC}/aggregate-to-view: "true"}}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
`,
    countsForPlatform: never,
  },
  {
    name: 'plain-secret',
    manifest: ({ namespace }) => object('v1', 'Secret', namespace, 'stringData: {password: correct-horse-battery}'),
    countsForPlatform: always,
  },
  {
    name: 'kubeconfig',
    manifest: ({ namespace }, url, branch) =>
      source(namespace, url, branch) +
      kustomization(namespace, `./${PLANTED}`, `, kubeConfig: {secretRef: {name: ${PLANTED}}}`),
    countsForPlatform: never,
  },
]
