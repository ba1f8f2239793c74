import type { Json } from '../../src/kube/node.ts'

/** What the platform grants besides the tenant's own RoleBinding, as manifests. */
interface TenantWorld {
  readonly name: string
  readonly rbac: string
}

const role = (name: string, rules: string) =>
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: ${name}}\nrules: ${rules}\n`
const binding = (name: string, role: string, subject: string, namespace?: string) =>
  `apiVersion: rbac.authorization.k8s.io/v1\nkind: ${namespace ? 'Role' : 'ClusterRole'}Binding\nmetadata: {name: ${name}${namespace ? `, namespace: ${namespace}` : ''}}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${role}}\nsubjects: [${subject}]\n`
const ALL = "verbs: ['*']"
const ACCOUNT = '{kind: ServiceAccount, name: dev-team, namespace: apps}'
const USER = '{kind: User, apiGroup: rbac.authorization.k8s.io, name: "system:serviceaccount:apps:dev-team"}'
const GROUP = '{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "system:serviceaccounts:apps"}'
const join = (...manifests: readonly string[]) => manifests.join('---\n')

export const WORLDS: readonly TenantWorld[] = [
  { name: 'nothing more', rbac: role('unused', '[]') },
  {
    name: 'a cluster-wide kind of its own',
    rbac: join(
      role('widgets', `[{apiGroups: [example.com], resources: [clusterwidgets, widgets], ${ALL}}]`),
      binding('widgets', 'widgets', ACCOUNT),
    ),
  },
  {
    name: 'kinds that the fleet does not define, for the group of its accounts',
    rbac: join(
      role('gadgets', `[{apiGroups: [elsewhere.example.com], resources: ['*'], ${ALL}}]`),
      binding('gadgets', 'gadgets', GROUP),
    ),
  },
  {
    name: 'storage and classes, for the account spelled as a user',
    rbac: join(
      role(
        'storage',
        `[{apiGroups: ['', storage.k8s.io, scheduling.k8s.io], resources: [persistentvolumes, storageclasses, priorityclasses], ${ALL}}]`,
      ),
      binding('storage', 'storage', USER),
    ),
  },
  { name: 'another tenant’s namespace', rbac: binding('guest', 'edit', ACCOUNT, 'ops') },
  { name: 'another namespace, for all accounts', rbac: binding('guests', 'admin', GROUP, 'flux-system') },
  { name: 'the whole cluster', rbac: binding('root', 'cluster-admin', ACCOUNT) },
  {
    name: 'everything of a group, by a star',
    rbac: join(
      role('star', `[{apiGroups: ['*'], resources: ['*'], verbs: [get, list, create, patch, update]}]`),
      binding('star', 'star', USER),
    ),
  },
]

const definition = (group: string, kind: string, scope: string): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope,
    names: { kind, plural: `${kind.toLowerCase()}s` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

/** Kinds of the cluster; the fleet renders the first two, of the others it knows nothing. */
export const definitions: readonly Json[] = [
  definition('example.com', 'Widget', 'Namespaced'),
  definition('example.com', 'ClusterWidget', 'Cluster'),
  definition('elsewhere.example.com', 'Gadget', 'Namespaced'),
  definition('elsewhere.example.com', 'ClusterGadget', 'Cluster'),
]
