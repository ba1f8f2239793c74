import { FLUX_KINDS, RESOURCE_SET, ROOT_NAMESPACE } from '../kube/flux-kinds.ts'
import { RBAC_GROUP } from '../kube/rbac/binding.ts'
import table from './installed-rbac.json' with { type: 'json' }

/** A ClusterRole or ClusterRoleBinding, or a part of one, as plain JSON. */
export type Manifest = { readonly [key: string]: string | readonly string[] | Manifest | readonly Manifest[] }
type Version = readonly [minor: number, patch: number]

/** Flux installs them with its namespace behind their names. */
const SUFFIX = `-${ROOT_NAMESPACE}`
const kindOf = (row: (typeof table)[number]) => (row.role === undefined ? 'ClusterRoleBinding' : 'ClusterRole')
const idOf = (row: (typeof table)[number]) => `${kindOf(row)} ${row.role ?? row.binding}${SUFFIX}`
const FLUX_GROUP = /\.(?:toolkit|extensions)\.fluxcd\.io$/
const IDS = new Set(table.map(idOf))
const NEWEST = manifestsAt([Infinity, Infinity])
const known = new Map<string, readonly Manifest[]>()

const OPERATOR_ACCOUNT = 'flux-operator'
/** The binding by which flux-operator may do everything. */
export const OPERATOR_BINDING = 'flux-operator-cluster-admin'
/** What flux-operator and its chart install (config/default/rbac.yaml): it makes each FluxInstance and ResourceSet as its account. */
export const OPERATOR_BINDINGS: readonly Manifest[] = [
  {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: OPERATOR_BINDING },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: OPERATOR_ACCOUNT, namespace: ROOT_NAMESPACE }],
  },
]
/** The same, left out by `rbac.createAggregation: false` of the chart. */
export const OPERATOR_ROLES: readonly Manifest[] = [
  operatorRole('edit', ['edit', 'admin'], 'create,delete,deletecollection,patch,update'),
  operatorRole('view', ['view', 'edit', 'admin'], 'get,list,watch'),
]

/** Whether Flux installs a role or binding of this kind and name. */
export const isInstalledRbac = (kind: string, name: string): boolean => IDS.has(`${kind} ${name}`)

/**
 * The roles and bindings that Flux installs (manifests/rbac of fluxcd/flux2). `version`: as a fleet writes it; of most
 * ranges, and where there is none, the newest counts.
 */
export function installedRbac(version = ''): readonly Manifest[] {
  const [, from = '', minor, patch = 'x'] = /^\s*([~=]?)\s*v?2\.(\d+)(?:\.(\d+|[xX*]))?\s*$/.exec(version) ?? []
  if (minor === undefined) return NEWEST
  const exact = from === '~' || !/\d/.test(patch) ? Infinity : Number(patch)
  const made = known.get(version) ?? manifestsAt([Number(minor), exact])
  known.set(version, made)
  return made
}

/** Names of the service accounts of its controllers. */
export const INSTALLED_ACCOUNTS: readonly string[] = [
  ...new Set(table.flatMap(({ subjects = [] }) => subjects.map(text => text.slice(text.indexOf('/') + 1)))),
]

/** Whether Flux installs an account of this name in its namespace. */
export const isInstalledAccount = (namespace: string, name: string): boolean =>
  namespace === ROOT_NAMESPACE && INSTALLED_ACCOUNTS.includes(name)

/** Whether Flux or its operator makes an account of this name in its namespace. */
export const isMadeAccount = (namespace: string, name: string): boolean =>
  isInstalledAccount(namespace, name) || (namespace === ROOT_NAMESPACE && name === OPERATOR_ACCOUNT)

/** The resources that people write, by API group: all of Flux's own but what only its controllers make. */
export const WRITTEN_RESOURCES: ReadonlyMap<string, readonly string[]> = new Map(
  [
    ...Map.groupBy(
      FLUX_KINDS.filter(({ group, kind }) => FLUX_GROUP.test(group) && kind !== 'ExternalArtifact'),
      ({ group }) => group,
    ),
  ].map(([group, rows]) => [group, rows.map(({ plural }) => plural).sort()]),
)

function manifestsAt([minor, patch]: Version): Manifest[] {
  const rows = new Map<string, Manifest>()
  for (const row of table) {
    const [, ofMinor = 0, ofPatch = 0] = row.since.split('.').map(Number)
    if (ofMinor < minor || (ofMinor === minor && ofPatch <= patch)) rows.set(idOf(row), manifestOf(row))
  }
  return [...rows.values()]
}

/** What tenants may do with ResourceSets by the roles of Kubernetes. */
function operatorRole(name: string, aggregatedTo: readonly string[], verbs: string): Manifest {
  const rule = `${verbs} ${RESOURCE_SET.split('/')[0]} resourcesets,resourcesetinputproviders`
  return roleOf(`flux-operator-${name}`, aggregatedTo, [rule])
}

function roleOf(name: string, aggregatedTo: readonly string[], rules: readonly string[]): Manifest {
  const labels = Object.fromEntries(aggregatedTo.map(to => [`${RBAC_GROUP}/aggregate-to-${to}`, 'true']))
  const metadata = { name, ...(aggregatedTo.length > 0 ? { labels } : {}) }
  return { apiVersion: `${RBAC_GROUP}/v1`, kind: 'ClusterRole', metadata, rules: rules.map(ruleOf) }
}

function manifestOf(row: (typeof table)[number]): Manifest {
  const { role, binding, aggregatedTo, rules = [], roleRef = '', subjects = [] } = row
  if (role !== undefined) return roleOf(`${role}${SUFFIX}`, aggregatedTo ?? [], rules)
  const name = IDS.has(`ClusterRole ${roleRef}${SUFFIX}`) ? `${roleRef}${SUFFIX}` : roleRef
  const bound = subjects.map(text => {
    const [kind = '', namespace = '', account = ''] = text.split(/[ /]/)
    return { kind, name: account, namespace }
  })
  const metadata = { name: `${binding}${SUFFIX}` }
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: kindOf(row),
    metadata,
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name },
    subjects: bound,
  }
}

/** `<verbs> <groups> <resources>`, or `<verbs> <paths>`; lists with commas, the core group is empty. */
function ruleOf(text: string): Manifest {
  const [verbs = [], second = [], resources] = text.split(' ').map(part => part.split(','))
  return resources ? { apiGroups: second, resources, verbs } : { nonResourceURLs: second, verbs }
}
