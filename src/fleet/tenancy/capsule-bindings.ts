import { at, itemsOf, type MapNode, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { RBAC_GROUP } from '../../kube/rbac/binding.ts'
import { accountOf } from '../../kube/rbac/groups-of.ts'
import { textsOf } from '../../kube/read-text.ts'
import { nodeOf } from '../model/synthetic.ts'
import { CAPSULE_GROUP, selectedOwners, writtenOwners } from './capsule.ts'

/** What Capsule binds an owner to where the Tenant does not say (api/v1beta2, owner.go). */
const OWNER_ROLES = ['admin', 'capsule-namespace-deleter']

type Subject = {
  readonly apiGroup?: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

/**
 * The RoleBindings that Capsule makes of Tenants: their owners' and the additional ones, in each namespace that has the Tenant's
 * ownerReference. `objects`: of Capsule's kinds; `members`: namespaces by Tenant; `version`: as capsuleVersion gives it;
 * `administrators`: who owns each Tenant by Capsule's configuration.
 */
export function capsuleBindings(
  objects: readonly KubeObject[],
  members: ReadonlyMap<string, Iterable<string>>,
  version: number | undefined,
  administrators: readonly CapsuleOwnerRoles[] = [],
): KubeObject[] {
  const all = objects.filter(object => groupOf(idOf(object).apiVersion) === CAPSULE_GROUP)
  const others = all.filter(object => idOf(object).kind === 'TenantOwner')
  return all.flatMap(tenant => {
    const { kind, name } = idOf(tenant)
    if (kind !== 'Tenant') return []
    const owners = [...ownersOf(tenant, others), ...administrators]
    const grants = [
      ...ownerGrants(version === undefined || version < 12 ? owners : merged(owners)),
      ...additionalGrants(tenant),
    ]
    return [...(members.get(name) ?? [])].flatMap(namespace =>
      grants.map((grant, index) => {
        const named =
          version === undefined || version < 13 ? `capsule-${name}-${index}-${grant.role}` : managed(grant, version)
        return binding(tenant, namespace, named, grant)
      }),
    )
  })
}

interface CapsuleGrant {
  readonly role: string
  readonly subjects: readonly Subject[]
}

/** An owner with the ClusterRoles that it has in the namespaces of a Tenant. */
interface CapsuleOwnerRoles {
  readonly kind: string
  readonly name: string
  readonly roles: readonly string[]
}

function ownersOf(tenant: KubeObject, others: readonly KubeObject[]): CapsuleOwnerRoles[] {
  const selected = selectedOwners(tenant.root, others).flatMap(({ root }) => at(root, ['spec']) ?? [])
  return [...writtenOwners(tenant.root), ...selected].map(owner => {
    const written = textsOf(at(owner, ['clusterRoles'])) ?? []
    const [kind, name] = [stringAt(owner, ['kind']) ?? '', stringAt(owner, ['name']) ?? '']
    return { kind, name, roles: written.length > 0 ? written : OWNER_ROLES }
  })
}

/** From 0.12 on: each once, with the roles of all of its entries, by kind and name. */
function merged(owners: readonly CapsuleOwnerRoles[]): CapsuleOwnerRoles[] {
  const keyOf = ({ kind, name }: CapsuleOwnerRoles) => `${kind} ${name}`
  const all = [...Map.groupBy(owners, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1))
  return all.map(([, same]) => ({ ...same[0]!, roles: [...new Set(same.flatMap(({ roles }) => roles))] }))
}

function ownerGrants(owners: readonly CapsuleOwnerRoles[]): CapsuleGrant[] {
  return owners.flatMap(({ kind, name, roles }) => {
    const subject = { apiGroup: RBAC_GROUP, kind, name, namespace: '' }
    const account = kind === 'Group' ? undefined : accountOf(name)
    const subjects = [account ? { kind: 'ServiceAccount', ...account } : subject]
    return roles.map(role => ({ role, subjects }))
  })
}

/** `spec.additionalRoleBindings` and those of `spec.rules`, which may apply to some of the namespaces only. */
function additionalGrants(tenant: KubeObject): CapsuleGrant[] {
  const ofRules = items(tenant, 'rules').flatMap(rule => {
    return itemsOf(at(rule, ['permissions', 'bindings']))
  })
  return [...items(tenant, 'additionalRoleBindings'), ...ofRules].flatMap(entry => {
    const role = stringAt(entry, ['clusterRoleName'])
    const subjects = itemsOf(at(entry, ['subjects'])).map(one => ({
      apiGroup: stringAt(one, ['apiGroup']) ?? '',
      kind: stringAt(one, ['kind']) ?? '',
      name: stringAt(one, ['name']) ?? '',
      namespace: stringAt(one, ['namespace']) ?? '',
    }))
    return role ? [{ role, subjects }] : []
  })
}

function items(tenant: KubeObject, field: string) {
  return itemsOf(at(tenant.root, ['spec', field]))
}

/** The name of a RoleBinding from 0.13 on: a hash (FNV-1a), from 0.14 on of each text behind its length. */
function managed({ role, subjects }: CapsuleGrant, version: number): string {
  const lengths = version >= 14
  const texts = subjects.flatMap(({ apiGroup = '', kind, namespace, name }) =>
    lengths ? [apiGroup, kind, namespace, name] : [kind, name],
  )
  let hash = 0xcbf29ce484222325n
  for (const text of [role, ...texts]) {
    const bytes = Buffer.from(text)
    const length = Buffer.alloc(lengths ? 8 : 0)
    if (lengths) length.writeBigUInt64LE(BigInt(bytes.length))
    for (const byte of [...length, ...bytes]) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return `capsule:managed:${hash.toString(16)}`
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
