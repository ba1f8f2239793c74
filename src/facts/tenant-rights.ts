import { FLUX_KINDS } from '../flux/kinds.ts'
import type { Authorizer } from '../kube/rbac/authorizer.ts'
import type { BoundSubject } from '../kube/rbac/binding.ts'
import type { PolicyRule } from '../kube/rbac/policy-rule.ts'
import { ruleAllows } from '../kube/rbac/rule-allows.ts'

/** What tenants' accounts hold in a namespace; `unknown`: also a role that nobody renders, which may allow anything. */
export interface TenantRights {
  readonly rules: readonly PolicyRule[]
  readonly unknown: boolean
}

const VERBS = ['create', 'update', 'patch']
/** The groups of every account, whatever its namespace. */
const EVERY_ACCOUNT = new Set(['system:serviceaccounts', 'system:authenticated', 'system:unauthenticated'])

/** What the accounts of tenants (`owners`: whose a namespace is) hold in a namespace. Groups of people do not count. */
export function tenantRights(
  authorizer: Authorizer,
  namespace: string,
  owners: ReadonlyMap<string, string>,
): TenantRights {
  if (owners.size === 0) return { rules: [], unknown: false }
  const bindings = ['', namespace].flatMap(place => authorizer.bindings.inNamespace(place))
  const reaching = bindings.filter(({ subjects }) => subjects.some(subject => isAccount(subject, owners)))
  const roles = reaching.map(({ roleRef, namespace: place }) => authorizer.rulesOf(roleRef, place))
  return {
    rules: roles.flatMap(rules => rules ?? []),
    unknown: roles.some(rules => !rules),
  }
}

/** What writes ConfigMaps and Secrets for whoever may write it: by a controller, or in a pod with an account of the namespace. */
const MAKERS: readonly (readonly [apiGroup: string, ...resources: string[]])[] = [
  ['', 'pods', 'replicationcontrollers'],
  ['apps', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  ['batch', 'cronjobs', 'jobs'],
  ['bitnami.com', 'sealedsecrets'],
  ['cert-manager.io', 'certificates'],
  ['external-secrets.io', 'externalsecrets'],
  ...FLUX_KINDS.filter(row => row.applies).map(({ group, plural }) => [group, plural] as const),
  ['kyverno.io', 'policies'],
  ['secrets.hashicorp.com', 'vaultdynamicsecrets', 'vaultpkisecrets', 'vaultstaticsecrets'],
]

/** Whether rights let someone decide what a ConfigMap or Secret holds. */
export function mayWrite({ rules, unknown }: TenantRights, kind: 'ConfigMap' | 'Secret', name: string): boolean {
  const own = { apiGroup: '', resource: kind === 'Secret' ? 'secrets' : 'configmaps', name }
  const made = MAKERS.flatMap(([apiGroup, ...resources]) =>
    resources.map(resource => ({ apiGroup, resource, name: '' })),
  )
  const requests = [own, ...made].flatMap(one => VERBS.map(verb => ({ ...one, verb })))
  return unknown || rules.some(rule => requests.some(request => ruleAllows(rule, request)))
}

function isAccount({ kind, name, namespace }: BoundSubject, owners: ReadonlyMap<string, string>): boolean {
  if (kind === 'ServiceAccount') return owners.has(namespace)
  if (kind === 'Group') {
    const own = /^system:serviceaccounts:(.+)$/.exec(name)?.[1]
    return EVERY_ACCOUNT.has(name) || (own !== undefined && owners.has(own))
  }
  const own = /^gotk:([^:]+):reconciler$/.exec(name)?.[1]
  return own !== undefined && owners.has(own)
}
