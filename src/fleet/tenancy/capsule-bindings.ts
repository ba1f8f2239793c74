import { at, type MapNode, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { accountOf } from '../../kube/rbac/groups-of.ts'
import { textsOf } from '../../kube/read-text.ts'
import { nodeOf } from '../model/synthetic.ts'

/** What Capsule binds an owner to where the Tenant does not say (api/v1beta2, owner.go). */
const OWNER_ROLES = ['admin', 'capsule-namespace-deleter']

type Subject = { readonly kind: string; readonly name: string; readonly namespace: string }

/**
 * The RoleBindings that Capsule makes of Tenants: their owners' and the additional ones, in each namespace of the tenant.
 * `namespacesWith`: the namespaces of the tenant that a namespace belongs to; a Tenant is found by where its owners' accounts are.
 */
export function capsuleBindings(
  tenants: Iterable<KubeObject>,
  namespacesWith: (namespace: string) => readonly string[],
): KubeObject[] {
  const bindings: KubeObject[] = []
  for (const tenant of tenants) {
    const { apiVersion, kind, name } = idOf(tenant)
    if (kind !== 'Tenant' || groupOf(apiVersion) !== 'capsule.clastix.io') continue
    const grants = [...ownerGrants(tenant), ...additionalGrants(tenant)]
    const homes = grants.flatMap(({ subjects }) => subjects.flatMap(homeOf))
    const namespaces = new Set(homes.flatMap(namespacesWith))
    for (const namespace of namespaces) {
      for (const [index, grant] of grants.entries()) {
        bindings.push(binding(tenant, namespace, `capsule-${name}-${index}-${grant.role}`, grant))
      }
    }
  }
  return bindings
}

interface CapsuleGrant {
  readonly role: string
  readonly subjects: readonly Subject[]
}

function ownerGrants(tenant: KubeObject): CapsuleGrant[] {
  return items(tenant, 'owners').flatMap(owner => {
    const written = textsOf(at(owner, ['clusterRoles'])) ?? []
    const subject = { kind: stringAt(owner, ['kind']) ?? '', name: stringAt(owner, ['name']) ?? '', namespace: '' }
    const account = subject.kind === 'Group' ? undefined : accountOf(subject.name)
    const subjects = [account ? { kind: 'ServiceAccount', ...account } : subject]
    return (written.length > 0 ? written : OWNER_ROLES).map(role => ({ role, subjects }))
  })
}

/** `spec.additionalRoleBindings` and those of `spec.rules`, which may apply to some of the namespaces only. */
function additionalGrants(tenant: KubeObject): CapsuleGrant[] {
  const ofRules = items(tenant, 'rules').flatMap(rule => {
    const bindings = at(rule, ['permissions', 'bindings'])
    return bindings?.type === 'list' ? bindings.items : []
  })
  return [...items(tenant, 'additionalRoleBindings'), ...ofRules].flatMap(entry => {
    const role = stringAt(entry, ['clusterRoleName'])
    const list = at(entry, ['subjects'])
    const subjects = (list?.type === 'list' ? list.items : []).map(one => ({
      kind: stringAt(one, ['kind']) ?? '',
      name: stringAt(one, ['name']) ?? '',
      namespace: stringAt(one, ['namespace']) ?? '',
    }))
    return role ? [{ role, subjects }] : []
  })
}

function items(tenant: KubeObject, field: string) {
  const list = at(tenant.root, ['spec', field])
  return list?.type === 'list' ? list.items : []
}

function homeOf({ kind, name, namespace }: Subject): string[] {
  if (kind === 'ServiceAccount') return namespace ? [namespace] : []
  const group = 'system:serviceaccounts:'
  if (kind === 'Group') return name.startsWith(group) ? [name.slice(group.length)] : []
  const account = accountOf(name)
  return account ? [account.namespace] : []
}

function binding(tenant: KubeObject, namespace: string, name: string, { role, subjects }: CapsuleGrant): KubeObject {
  const plain = {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
    subjects: subjects.map(subject => (subject.namespace ? subject : { kind: subject.kind, name: subject.name })),
  }
  return { root: nodeOf(plain, tenant.root.origin) as MapNode, trail: tenant.trail }
}
