import { TENANT_ROLE, TENANT_ROLE_LABEL } from '../../fleet/tenancy/tenant-role.ts'
import { WRITTEN_RESOURCES } from '../../flux/installed-rbac.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { type ManifestMap, printManifests } from './print-manifest.ts'

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
