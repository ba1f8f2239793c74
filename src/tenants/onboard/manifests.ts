import { TENANT_ROLE, TENANT_ROLE_LABEL } from '../../fleet/tenancy/tenancy.ts'
import { WRITTEN_RESOURCES } from '../../flux/installed-rbac.ts'
import { emitScalar } from '../../flux/substitute/emit-scalar.ts'
import { TENANT_LABEL_KEY } from '../../kube/flux-kinds.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'

interface NewTenant {
  readonly name: string
  readonly namespaces: readonly string[]
  readonly account: string
  readonly role: string
  /** Annotations of the account, by which capsule-addon-fluxcd makes its binding. */
  readonly addon?: ManifestMap | undefined
  /** Only the account is bound, not the user whom Flux may impersonate instead. */
  readonly isAccountOnly?: boolean
}

/**
 * `flux create tenant`: per namespace the Namespace, an account and its RoleBinding (flux2 cmd/flux/create_tenant.go). The
 * account of the first namespace, as which the tenant's Kustomization applies, is bound in the others, too.
 */
export function createTenant({ name, namespaces, account, role, addon, isAccountOnly }: NewTenant): ManifestMap[] {
  const labels = { [TENANT_LABEL_KEY]: name }
  const bindingOf = (namespace: string): ManifestMap => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { labels, name: `${name}-reconciler`, namespace },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [
      ...(isAccountOnly
        ? []
        : [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `gotk:${namespace}:reconciler` }]),
      ...[...new Set([namespace, namespaces[0]!])].map(one => ({
        kind: 'ServiceAccount',
        name: account,
        namespace: one,
      })),
    ],
  })
  return namespaces.flatMap((namespace, index) => [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { labels, name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { ...(addon && index === 0 ? { annotations: addon } : {}), labels, name: account, namespace },
    },
    // the addon knows the account that owns the Tenant, which is in the first namespace
    ...(addon && index === 0 ? [] : [bindingOf(namespace)]),
  ])
}

/** What both kinds of sources have. Durations as Go prints them. */
interface NewSource {
  readonly apiVersion: string
  readonly name: string
  readonly namespace: string
  readonly url: string
  readonly interval: string
  readonly secret: string | undefined
}

/** `flux create source git` (flux2 cmd/flux/create_source_git.go). */
export function createSourceGit(
  source: NewSource & { readonly ref: ManifestMap; readonly provider: string | undefined },
): ManifestMap {
  const { apiVersion, name, namespace, url, interval, secret, ref, provider } = source
  return {
    apiVersion,
    kind: 'GitRepository',
    metadata: { name, namespace },
    spec: { interval, provider, ref, secretRef: secretRef(secret), url },
  }
}

/** `flux create source oci` (flux2 cmd/flux/create_source_oci.go). */
export function createSourceOci(source: NewSource & { readonly ref: ManifestMap }): ManifestMap {
  const { apiVersion, name, namespace, url, interval, secret, ref } = source
  return {
    apiVersion,
    kind: 'OCIRepository',
    metadata: { name, namespace },
    spec: { interval, provider: 'generic', ref, secretRef: secretRef(secret), url },
  }
}

const secretRef = (name: string | undefined) => (name === undefined ? undefined : { name })

interface NewKustomization {
  readonly apiVersion: string
  readonly name: string
  readonly namespace: string
  readonly account: string
  readonly sourceKind: 'GitRepository' | 'OCIRepository'
  readonly path: string
  readonly interval: string
  readonly prune: boolean
  /** Waits for all of its objects; at most so long. */
  readonly wait: boolean
  readonly timeout: string
  /** The Secret with the keys of SOPS. */
  readonly decryption: string | undefined
  /** The kubeconfig Secret and its key. */
  readonly kubeConfig?: { readonly name: string; readonly key: string } | undefined
}

/** `flux create kustomization`, from the source of the same name (flux2 cmd/flux/create_kustomization.go). */
export function createKustomization(wanted: NewKustomization): ManifestMap {
  const { name, namespace, account, sourceKind, path, interval, prune, wait, timeout, decryption, kubeConfig } = wanted
  return {
    apiVersion: wanted.apiVersion,
    kind: 'Kustomization',
    metadata: { name, namespace },
    spec: {
      decryption: decryption === undefined ? undefined : { provider: 'sops', secretRef: { name: decryption } },
      interval,
      kubeConfig: kubeConfig === undefined ? undefined : { secretRef: { ...kubeConfig } },
      path,
      prune,
      serviceAccountName: account,
      sourceRef: { kind: sourceKind, name },
      ...(wait ? { timeout, wait } : {}),
    },
  }
}

const READ = ['get', 'list', 'watch']
const WRITE = [...READ, 'create', 'update', 'patch', 'delete', 'deletecollection']

/** What a tenant applies, by API group. Roles and their bindings: the API server refuses what the tenant does not hold itself. */
const WRITTEN: readonly (readonly [group: string, resources: readonly string[]])[] = [
  ['', ['configmaps', 'events', 'persistentvolumeclaims', 'pods', 'secrets', 'serviceaccounts', 'services']],
  ['apps', ['daemonsets', 'deployments', 'replicasets', 'statefulsets']],
  ['autoscaling', ['horizontalpodautoscalers']],
  ['batch', ['cronjobs', 'jobs']],
  ['coordination.k8s.io', ['leases']],
  ['gateway.networking.k8s.io', ['grpcroutes', 'httproutes']],
  ['networking.k8s.io', ['ingresses', 'networkpolicies']],
  ['policy', ['poddisruptionbudgets']],
  [RBAC_GROUP, ['rolebindings', 'roles']],
  ...WRITTEN_RESOURCES,
]

const SEEN = ['endpoints', 'limitranges', 'pods/log', 'pods/status', 'resourcequotas']

/**
 * The role of tenants, and what it gathers: the cluster's controller writes the rules of the first, which therefore names
 * none. No `*` and no `/status`: who writes the status of a source decides what Flux deploys.
 */
export function tenantRoleManifest(): string {
  const head = { apiVersion: `${RBAC_GROUP}/v1`, kind: 'ClusterRole' }
  const matchLabels: ManifestMap = { [TENANT_ROLE_LABEL]: 'true' }
  const rules = WRITTEN.map(([group, resources]) => ({ apiGroups: [group], resources, verbs: WRITE }))
  return printManifests([
    { ...head, metadata: { name: TENANT_ROLE }, aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } },
    {
      ...head,
      metadata: { labels: matchLabels, name: `${TENANT_ROLE}-base` },
      rules: [...rules, { apiGroups: [''], resources: SEEN, verbs: READ }],
    },
  ])
}

/** A value of a manifest; absent fields are left out. */
export type ManifestValue = string | boolean | number | ManifestMap | readonly ManifestValue[]
export interface ManifestMap {
  readonly [name: string]: ManifestValue | undefined
}

/** Objects as `flux create ... --export` prints them (sigs.k8s.io/yaml: sorted names, lists as far left as their name). */
export const printManifests = (objects: readonly ManifestMap[]): string =>
  objects.map(object => `---\n${fields(object, '').join('\n')}\n`).join('')

function fields(map: ManifestMap, indent: string): string[] {
  const present = Object.entries(map).filter((entry): entry is [string, ManifestValue] => entry[1] !== undefined)
  return present
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => {
      const key = emitScalar(name, { column: indent.length - 1, indent: indent.length, key: true }).text
      const text = inline(value, indent.length + key.length + 1, indent.length + 2)
      if (text !== undefined) return [`${indent}${key}: ${text}`]
      const lines = Array.isArray(value) ? items(value, indent) : fields(value as ManifestMap, `${indent}  `)
      return [`${indent}${key}:`, ...lines]
    })
}

function items(list: readonly ManifestValue[], indent: string): string[] {
  return list.flatMap(item => {
    const text = inline(item, indent.length + 1, indent.length + 2)
    if (text !== undefined) return [`${indent}- ${text}`]
    if (Array.isArray(item)) throw new TypeError('a list in a list is not printed')
    const [first = '', ...rest] = fields(item as ManifestMap, `${indent}  `)
    return [`${indent}- ${first.trimStart()}`, ...rest]
  })
}

/** A value on the same line as its name or dash; undefined if it needs several lines. */
function inline(value: ManifestValue, column: number, indent: number): string | undefined {
  if (typeof value === 'string') return emitScalar(value, { column, indent, key: false }).text
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : undefined
  return Object.values(value).every(one => one === undefined) ? '{}' : undefined
}
