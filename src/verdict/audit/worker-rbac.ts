import type { Fleet } from '../../fleet/model/fleet.ts'
import { actsAsKubeConfig } from '../../fleet/model/kustomization-spec.ts'
import { readApplySettings } from '../../flux/apply-settings.ts'
import { KUSTOMIZE_GROUP as FLUX, ROOT_NAMESPACE } from '../../kube/flux-kinds.ts'
import { groupOf, idOf } from '../../kube/object.ts'
import { userOfAccount } from '../../kube/rbac/policy-rule.ts'
import { customPlurals, resourceOf } from '../../kube/rbac/resources.ts'

/** A manifest as plain data. */
type Manifest = Readonly<Record<string, unknown>>

/** What a worker needs on a cluster, and the Kustomizations that it will not apply whatever its rights are. */
interface WorkerRbac {
  readonly manifests: readonly Manifest[]
  /** `<key>: <why>`. */
  readonly left: readonly string[]
  /** Kustomizations that act as the account of kustomize-controller, which is cluster-admin as Flux installs it. */
  readonly asController: readonly string[]
}

/** Where the worker lives. */
const WORKER_NAMESPACE = 'bailiwick-system'
const WORKER_ACCOUNT = 'bailiwick'
const NEVER_PRUNED = { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' }
const RESTRICTED = Object.fromEntries(
  ['enforce', 'audit', 'warn'].map(mode => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
)

const RBAC = 'rbac.authorization.k8s.io'
const NAME = 'bailiwick-worker'
const SUBJECTS = [{ kind: 'ServiceAccount', name: WORKER_ACCOUNT, namespace: WORKER_NAMESPACE }]
const CONTROLLER = userOfAccount(ROOT_NAMESPACE, 'kustomize-controller')
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/**
 * Returns the least rights of a worker for one cluster: it may impersonate exactly the accounts that the cluster's
 * Kustomizations name, watch the kinds that they apply, and itself writes only inventories, its Lease, status and Events. Accounts in the worker's own namespace
 * are refused, because impersonating them could grant the worker's rights.
 */
export function workerRbac({ nodes }: Pick<Fleet, 'nodes'>, cluster: string): WorkerRbac {
  const here = nodes.filter(node => (node.hub ?? node.cluster) === cluster)
  const accounts = new Map<string, Set<string>>()
  const users = new Set<string>()
  const left: string[] = []
  const secrets = new Map<string, Set<string>>()
  for (const { key, identity, namespace: own, kustomization } of here) {
    const [, namespace, name] = ACCOUNT.exec(identity.user) ?? []
    const kubeConfig = actsAsKubeConfig(identity.user)
      ? readApplySettings(kustomization, own).settings.kubeConfig
      : undefined
    if (kubeConfig?.kind === 'Secret') secrets.set(own, (secrets.get(own) ?? new Set()).add(kubeConfig.name))
    else if (!identity.impersonated || identity.user === '') left.push(`${key}: it impersonates no account`)
    else if (namespace === WORKER_NAMESPACE) left.push(`${key}: its account is in the namespace of the worker`)
    else if (namespace === undefined || name === undefined) users.add(identity.user)
    else accounts.set(namespace, (accounts.get(namespace) ?? new Set()).add(name))
  }
  const namespaces = new Set(here.map(node => node.namespace))
  const inNamespaces = [...new Set([...accounts.keys(), ...namespaces])].sort().flatMap(namespace => {
    const names = [...(accounts.get(namespace) ?? [])].sort()
    return bound('Role', { namespace, name: NAME }, [
      ...(names.length > 0 ? [asAccounts(names)] : []),
      ...(secrets.has(namespace) ? [readSecrets([...secrets.get(namespace)!].sort())] : []),
      ...(namespaces.has(namespace) ? OF_KUSTOMIZATIONS : []),
    ])
  })
  const asUsers = users.size > 0 ? [impersonate('users', [...users].sort())] : []
  const drift = watchedKinds(here)
  return {
    manifests: [
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: WORKER_NAMESPACE, annotations: NEVER_PRUNED, labels: RESTRICTED },
      },
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: WORKER_ACCOUNT, namespace: WORKER_NAMESPACE },
        automountServiceAccountToken: false,
      },
      ...bound('ClusterRole', { name: NAME }, OF_CLUSTER),
      ...bound('Role', { namespace: WORKER_NAMESPACE, name: 'bailiwick-inventories' }, OF_OWN_NAMESPACE),
      ...(asUsers.length > 0 ? bound('ClusterRole', { name: `${NAME}-users` }, asUsers) : []),
      ...inNamespaces,
      ...(drift.length > 0 ? bound('ClusterRole', { name: 'bailiwick-drift' }, drift) : []),
    ],
    left,
    asController: here.flatMap(({ key, identity }) => (identity.user === CONTROLLER ? [key] : [])),
  }
}

/**
 * One rule for each API group: the kinds that the cluster's Kustomizations apply, so that their drift is seen at once. Secrets
 * are left out: who may list a kind can read all of its objects.
 */
function watchedKinds(nodes: Fleet['nodes']): Manifest[] {
  const plurals = customPlurals(nodes.filter(({ tenant }) => tenant === undefined).flatMap(node => node.objects))
  const groups = new Map<string, Set<string>>()
  for (const object of nodes.flatMap(node => node.objects)) {
    const { apiVersion, kind } = idOf(object)
    const group = groupOf(apiVersion)
    if (!/^[A-Za-z][A-Za-z0-9]*$/.test(kind) || !/^[a-z0-9.-]*$/.test(group)) continue
    const resource = resourceOf(apiVersion, kind, plurals)
    if (group === '' && resource === 'secrets') continue
    groups.set(group, (groups.get(group) ?? new Set()).add(resource))
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, names]) => rule(group, [...names].sort(), ['list', 'watch']))
}

const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]) => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
})

const impersonate = (resource: string, resourceNames: readonly string[]) => ({
  ...rule('', [resource], ['impersonate']),
  resourceNames,
})

/** `get`: a deleted Kustomization whose account is gone is let go. */
const asAccounts = (resourceNames: readonly string[]) => ({
  ...rule('', ['serviceaccounts'], ['impersonate', 'get']),
  resourceNames,
})

/** Kubeconfigs of Kustomizations that name no account. */
const readSecrets = (resourceNames: readonly string[]) => ({ ...rule('', ['secrets'], ['get']), resourceNames })

/** To refuse a cluster where a kustomize-controller is active, to know this cluster again behind a kubeConfig, and to see Kustomizations change. */
const OF_CLUSTER = [
  rule('apps', ['deployments'], ['list', 'watch']),
  rule('coordination.k8s.io', ['leases'], ['list']),
  { ...rule('', ['namespaces'], ['get']), resourceNames: ['kube-system'] },
  rule(FLUX, ['kustomizations'], ['get', 'list', 'watch']),
]

/** `patch` on the object itself is for its finalizer, which RBAC cannot tell from the rest. */
const OF_KUSTOMIZATIONS = [
  rule(FLUX, ['kustomizations', 'kustomizations/status'], ['patch']),
  rule('', ['events'], ['create', 'patch']),
]

/** Name of the Lease, in the worker's namespace, that the replica of a worker in a cluster holds while it applies. */
export const WORKER_LEASE = 'bailiwick-worker'

/** Inventories, and the Lease by which one of two replicas in the cluster applies. RBAC cannot limit `create` to a name. */
const OF_OWN_NAMESPACE = [
  rule('', ['configmaps'], ['get', 'list', 'create', 'update', 'delete']),
  rule('coordination.k8s.io', ['leases'], ['create']),
  { ...rule('coordination.k8s.io', ['leases'], ['get', 'update']), resourceNames: [WORKER_LEASE] },
]

/** What the worker needs whatever the fleet is: on the whole cluster, and in its own namespace. */
export const WORKER_RULES = { cluster: OF_CLUSTER, ownNamespace: OF_OWN_NAMESPACE } as const

function bound(kind: 'Role' | 'ClusterRole', metadata: Manifest, rules: readonly Manifest[]): Manifest[] {
  const roleRef = { apiGroup: RBAC, kind, name: metadata.name }
  return [
    { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
    { apiVersion: `${RBAC}/v1`, kind: `${kind}Binding`, metadata, roleRef, subjects: SUBJECTS },
  ]
}
