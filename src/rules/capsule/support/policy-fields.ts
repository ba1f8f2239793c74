import { canonical, type Node, stringAt } from '../../../kube/node.ts'
import type { FindingLevel } from '../../model/rule.ts'
import { listAt, textsAt } from './list-at.ts'
import { allows, atMost, forbids, keepsEntries, keepsItems, type Limit, notBelow, quotas, stays } from './loosened.ts'

/** A field by which Capsule limits what owners of a Tenant may do. */
interface PolicyField {
  readonly path: readonly string[]
  readonly limit: Limit
  /** `violation`: tenants are kept apart by it. `warning`: it only says how much they may have. */
  readonly level: FindingLevel
}

const field = (path: string, limit: Limit, level: FindingLevel): PolicyField => ({
  path: ['spec', ...path.split('.')],
  limit,
  level,
})
const isolates = (path: string, limit: Limit) => field(path, limit, 'violation')
const limits = (path: string, limit: Limit) => field(path, limit, 'warning')
const COLLISIONS = ['Disabled', 'Namespace', 'Tenant', 'Cluster']

/** Fields of a Tenant (api/v1beta2/tenant_types.go of Capsule, and where older versions had them). */
export const TENANT_FIELDS: readonly PolicyField[] = [
  isolates('namespaceOptions.forbiddenLabels', forbids),
  isolates('namespaceOptions.forbiddenAnnotations', forbids),
  limits('namespaceOptions.requiredMetadata', keepsEntries),
  limits('namespaceOptions.additionalMetadata', keepsEntries),
  limits('namespaceOptions.additionalMetadataList', keepsItems),
  limits('namespaceOptions.quota', atMost),
  limits('namespaceQuota', atMost),
  isolates('networkPolicies', keepsEntries),
  isolates('nodeSelector', keepsEntries),
  isolates('rules', keepsItems),
  isolates('containerRegistries', allows),
  isolates('priorityClasses', allows),
  isolates('runtimeClasses', allows),
  isolates('ingressOptions.allowedHostnames', allows),
  isolates('ingressHostnames', allows),
  isolates('ingressOptions.hostnameCollisionScope', notBelow(COLLISIONS, 'Disabled')),
  isolates('ingressOptions.allowWildcardHostnames', stays(false, false)),
  isolates('serviceOptions.externalIPs', allows),
  isolates('serviceOptions.externalServiceIPs', allows),
  isolates('serviceOptions.allowedServices.externalName', stays(false, true)),
  limits('serviceOptions.allowedServices.nodePort', stays(false, true)),
  limits('serviceOptions.allowedServices.loadBalancer', stays(false, true)),
  limits('serviceOptions.forbiddenLabels', forbids),
  limits('serviceOptions.forbiddenAnnotations', forbids),
  limits('ingressOptions.allowedClasses', allows),
  limits('gatewayOptions.allowedClasses', allows),
  limits('storageClasses', allows),
  limits('deviceClasses', allows),
  limits('imagePullPolicies', allows),
  limits('podOptions', keepsEntries),
  limits('resourceQuotas.items', quotas),
  limits('resourceQuotas.scope', notBelow(['Namespace', 'Tenant'], 'Tenant')),
  limits('limitRanges', keepsEntries),
  limits('forceTenantPrefix', stays(true, false)),
  limits('cordoned', stays(true, false)),
  limits('preventDeletion', stays(true, false)),
]

const namesOf = (users: Node | undefined, kind: string) =>
  listAt(users, []).flatMap(item => (stringAt(item, ['kind']) === kind ? (stringAt(item, ['name']) ?? []) : []))

/** Groups of people; those of accounts that own a Tenant are the rule capsule-group-missing's. */
const keepsGroups: Limit = (was, is, users) => {
  const now = new Set([...textsAt(is, []), ...namesOf(users, 'Group')])
  return textsAt(was, []).some(group => !now.has(group) && !group.startsWith('system:serviceaccounts:'))
}

/** The same for `users`; accounts and their groups may be removed with their tenant. */
const keepsUsers: Limit = (was, is) => {
  const isAccount = (item: Node) => /^system:serviceaccounts?:/.test(stringAt(item, ['name']) ?? '')
  const now = new Set(listAt(is, []).map(canonical))
  return listAt(was, []).some(item => !now.has(canonical(item)) && !isAccount(item))
}

const keepsNames: Limit = (was, is, users) => {
  const now = new Set([...textsAt(is, []), ...namesOf(users, 'User')])
  return textsAt(was, []).some(name => !now.has(name) && !name.startsWith('system:serviceaccount:'))
}

/** A ClusterRole that Capsule binds for all of its users; `usual` is Capsule's default. */
const keepsRole =
  (usual: string): Limit =>
  (was, is) =>
    textOf(is, usual) !== textOf(was, usual) && textOf(is, usual) !== usual

/** ClusterRoles for accounts that become owners; `usual` are the defaults. */
const noMoreRoles =
  (...usual: readonly string[]): Limit =>
  (was, is) => {
    const before = new Set(was?.type === 'list' ? textsAt(was, []) : usual)
    return textsAt(is, []).some(role => !before.has(role) && !usual.includes(role))
  }

const textOf = (node: Node | undefined, absent: string): string =>
  node?.type === 'scalar' && node.value !== null && node.value !== '' ? String(node.value) : absent

const [PROVISIONER, DELETER] = ['capsule-namespace-provisioner', 'capsule-namespace-deleter'] as const

/** Fields of the CapsuleConfiguration (api/v1beta2/capsuleconfiguration_types.go). */
export const CONFIGURATION_FIELDS: readonly PolicyField[] = [
  isolates('protectedNamespaceRegex', keepsEntries),
  isolates('nodeMetadata.forbiddenLabels', forbids),
  isolates('nodeMetadata.forbiddenAnnotations', forbids),
  isolates('userGroups', keepsGroups),
  isolates('userNames', keepsNames),
  isolates('users', keepsUsers),
  isolates('ignoreUserWithGroups', (was, is) => forbids(is, was)),
  isolates('administrators', (was, is) => keepsItems(is, was)),
  isolates('allowServiceAccountPromotion', stays(false, false)),
  isolates('allowTenantIngressHostnamesCollision', stays(false, false)),
  isolates('allowIngressHostnameCollision', stays(false, false)),
  isolates('rbac.provisioner', keepsRole(PROVISIONER)),
  isolates('rbac.deleter', keepsRole(DELETER)),
  isolates('rbac.promotionClusterRoles', noMoreRoles(PROVISIONER, DELETER)),
  isolates('rbac.administrationClusterRoles', noMoreRoles(DELETER)),
  isolates('impersonation', keepsEntries),
  isolates('impersonation.skipTlsVerify', stays(false, false)),
  isolates('admission', keepsEntries),
  limits('overrides', keepsEntries),
  limits('forceTenantPrefix', stays(true, false)),
]
