import { nodeOf } from '../fleet/model/synthetic.ts'
import {
  CAPSULE_GROUP,
  type CapsuleTenant,
  capsuleLabelOf,
  capsuleReferenceOf,
  homesOf,
  isEquippedByAddon,
  mayCreateNamespace,
  nameOfOwner,
  readCapsuleTenants,
  writtenOwners,
} from '../fleet/tenancy/capsule.ts'
import { capsuleBindings } from '../fleet/tenancy/capsule-bindings.ts'
import { at, isTrue, itemsOf, type MapNode, type Node, stringAt } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import { RBAC_GROUP } from '../kube/rbac/binding.ts'
import { accountOf, userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import { textsOf } from '../kube/read-text.ts'
import { type CapsuleSettings, capsuleSettings } from './capsule-settings.ts'
import { capsuleVersion } from './capsule-version.ts'
import type { Rendered } from './object-table.ts'

type Subject = { readonly kind: string; readonly name: string; readonly namespace?: string }

/** What the CapsuleConfigurations of a cluster say, as one. */
interface Configuration {
  /** Whose requests Capsule looks at, and who administers it: it lets all of them create Namespaces. */
  readonly users: readonly Subject[]
  readonly administrators: readonly Subject[]
  readonly forcesPrefix: boolean
  readonly roles: readonly [provisioner: string, deleter: string]
}

/**
 * The roles and bindings that Capsule and its addon for Flux make on a cluster (internal/controllers/rbac and tenant of
 * Capsule 0.1 to 0.14, pkg/controller/serviceaccount of capsule-addon-fluxcd). `rendered`: the objects of a kind; `ownerOf`: the
 * tenant of a namespace.
 */
export function capsuleRbac(
  rendered: (kind: string) => readonly Rendered[],
  ownerOf: (namespace: string) => string | undefined,
): readonly KubeObject[] {
  const platform = (kind: string) => rendered(kind).filter(({ node }) => node.tenant === undefined)
  const ofCapsule = ['Tenant', 'TenantOwner']
    .flatMap(kind => platform(`${CAPSULE_GROUP}/${kind}`))
    .map(({ object }) => object)
  const settings = capsuleSettings(platform)
  if (ofCapsule.length === 0 && settings.length === 0) return []
  const config = read(settings)
  const version = capsuleVersion(platform)
  const anchor = ofCapsule[0] ?? settings[0]!.rendered.object
  const accounts = addonAccounts(platform, ofCapsule)
  const namespaces = rendered('/Namespace').filter(({ node, object }) => {
    return node.tenant === undefined || ownerOf(idOf(object).name) === node.tenant
  })
  const members = membersOf(namespaces, ofCapsule, config)
  for (const { namespace, tenant } of accounts) join(members, tenant, namespace)
  const kinds = accounts.length === 0 ? [] : ['ClusterRole', 'ClusterRoleBinding', 'RoleBinding']
  const bound = kinds.flatMap(kind => rendered(`${RBAC_GROUP}/${kind}`))
  // the addon leaves what is there as it is
  const written = new Set(bound.map(({ object }) => display(idOf(object))))
  const [provisioner, deleter] = config.roles
  const verbs = version !== undefined && version < 1.002 ? ['create'] : ['create', 'patch']
  return [
    role(anchor, provisioner, { resources: ['namespaces'], verbs }),
    role(anchor, deleter, { resources: ['namespaces'], verbs: ['delete'] }),
    ...clusterBinding(anchor, provisioner, [...config.users, ...config.administrators]),
    ...capsuleBindings(ofCapsule, members, version),
    ...accounts.flatMap(addonRbac).filter(one => !written.has(display(idOf(one)))),
  ]
}

/** Whose requests Capsule looks at on a cluster, and who administers it. `platform`: what the platform renders of a kind. */
export const capsuleUsers = (
  platform: (kind: string) => readonly Rendered[],
): Pick<Configuration, 'users' | 'administrators'> => read(capsuleSettings(platform))

function read(settings: readonly CapsuleSettings[]): Configuration {
  const parts = settings.map(({ rendered, path, ...one }) => ({ spec: at(rendered.object.root, path), ...one }))
  const texts = (field: string) => parts.flatMap(({ spec }) => textsOf(at(spec, [field])) ?? [])
  const list = (field: string) =>
    parts.flatMap(({ spec, hasUsers }) => (hasUsers ? itemsOf(at(spec, [field])).flatMap(subjectOf) : []))
  const named = (field: string) => parts.map(({ spec }) => stringAt(spec, ['rbac', field])).find(Boolean)
  const groups = parts.flatMap(({ spec, groups: field }) => textsOf(at(spec, [field])) ?? [])
  return {
    users: [
      ...groups.map(name => ({ kind: 'Group', name })),
      ...texts('userNames').map(name => ({ kind: 'User', name })),
      ...list('users'),
    ],
    administrators: list('administrators'),
    forcesPrefix: parts.some(({ spec }) => isTrue(at(spec, ['forceTenantPrefix']))),
    roles: [named('provisioner') ?? 'capsule-namespace-provisioner', named('deleter') ?? 'capsule-namespace-deleter'],
  }
}

function subjectOf(node: Node): Subject[] {
  const [kind, name] = [stringAt(node, ['kind']), stringAt(node, ['name'])]
  return kind && name ? [{ kind, name }] : []
}

/**
 * The namespaces that have the ownerReference of a Tenant: written, or by Capsule's webhook where an owner or an administrator
 * creates the Namespace. What else creates it, Capsule does not look at, whatever its label.
 */
function membersOf(
  namespaces: readonly Rendered[],
  ofCapsule: readonly KubeObject[],
  config: Configuration,
): Map<string, Set<string>> {
  const members = new Map<string, Set<string>>()
  const tenants = readCapsuleTenants(ofCapsule)
  const named = tenants.flatMap(tenant => tenant.owners.map(owner => ({ owner: nameOfOwner(owner), tenant })))
  const byOwner = Map.groupBy(named, ({ owner }) => owner)
  const created = new Set(
    namespaces.flatMap(({ node, object }) => (node.tenant === undefined ? idOf(object).name : [])),
  )
  for (const one of namespaces) {
    const { name } = idOf(one.object)
    // what the platform creates, no tenant can have created
    const tenant =
      one.node.tenant !== undefined && created.has(name) ? undefined : assignedTo(one, { tenants, byOwner }, config)
    if (tenant !== undefined) join(members, tenant, name)
  }
  return members
}

interface Owned {
  readonly tenants: readonly CapsuleTenant[]
  /** By `<kind> <name>`. */
  readonly byOwner: ReadonlyMap<string, readonly { readonly tenant: CapsuleTenant }[]>
}

function assignedTo(
  { node, object }: Rendered,
  { tenants, byOwner }: Owned,
  { administrators, forcesPrefix }: Configuration,
): string | undefined {
  const { name } = idOf(object)
  const label = capsuleLabelOf(object)
  const { name: user, groups } = userInfo(node.identity.user)
  const isAdmin = administrators.some(one => one.name === user || (one.kind === 'Group' && groups.includes(one.name)))
  const names = [`ServiceAccount ${user}`, `User ${user}`, ...groups.map(group => `Group ${group}`)]
  const all = names.flatMap(owner => (byOwner.get(owner) ?? []).map(({ tenant }) => tenant))
  const owned = mayCreateNamespace(node.identity, name, byOwner) ? [...new Set(all)] : []
  const written = node.tenant === undefined ? capsuleReferenceOf(object) : undefined
  if (written !== undefined) return written
  if (label !== undefined) return (isAdmin ? tenants : owned).find(one => one.name === label)?.name
  const prefixed = owned.filter(one => forcesPrefix && name.startsWith(`${one.name}-`))
  const longest = prefixed.sort((a, b) => b.name.length - a.name.length)[0]
  // of several Capsule refuses a new one without a label: one that is there belongs to the one that no other account owns
  return (longest ?? owned.toSorted((a, b) => homesOf(a).length - homesOf(b).length)[0])?.name
}

function join(members: Map<string, Set<string>>, tenant: string, namespace: string): void {
  members.set(tenant, new Set([...(members.get(tenant) ?? []), namespace]))
}

/** An account that the addon equips, and the first Tenant that it owns, to which the addon gives its home. */
interface AddonAccount {
  readonly object: KubeObject
  readonly namespace: string
  readonly name: string
  readonly tenant: string
}

function addonAccounts(platform: (kind: string) => readonly Rendered[], ofCapsule: readonly KubeObject[]) {
  const owned = ofCapsule.flatMap(one =>
    writtenOwners(one.root).flatMap(owner => {
      return stringAt(owner, ['kind']) === 'ServiceAccount'
        ? { user: stringAt(owner, ['name']), tenant: idOf(one).name }
        : []
    }),
  )
  const byUser = Map.groupBy(owned, ({ user }) => user)
  return platform('/ServiceAccount').flatMap(({ object }): AddonAccount[] => {
    if (!isEquippedByAddon(object)) return []
    const { namespace, name } = idOf(object)
    const all = byUser.get(userOfAccount(namespace, name)) ?? []
    const tenant = all.map(one => one.tenant).sort()[0]
    return tenant === undefined ? [] : [{ object, namespace, name, tenant }]
  })
}

/** What the addon makes for an account. */
function addonRbac({ object, namespace, name }: AddonAccount): KubeObject[] {
  const impersonator = `${namespace}-${name}-impersonator`
  const subjects = [{ kind: 'ServiceAccount', name, namespace }]
  const self = { resources: ['users'], verbs: ['impersonate'], resourceNames: [userOfAccount(namespace, name)] }
  return [
    make(object, 'RoleBinding', { name, namespace }, { roleRef: refTo('cluster-admin'), subjects }),
    role(object, impersonator, self),
    ...clusterBinding(object, impersonator, subjects),
  ]
}

type Fields = Parameters<typeof nodeOf>[0] & object

function make(from: KubeObject, kind: string, metadata: Record<string, string>, fields: Fields): KubeObject {
  const plain = { apiVersion: `${RBAC_GROUP}/v1`, kind, metadata, ...fields }
  return { root: nodeOf(plain, from.root.origin) as MapNode, trail: from.trail }
}

const refTo = (name: string) => ({ apiGroup: RBAC_GROUP, kind: 'ClusterRole', name })

const role = (from: KubeObject, name: string, rule: Record<string, readonly string[]>): KubeObject =>
  make(from, 'ClusterRole', { name }, { rules: [{ apiGroups: [''], ...rule }] })

function clusterBinding(from: KubeObject, name: string, all: readonly Subject[]): KubeObject[] {
  const subjects = all.map(one => {
    const account = one.kind === 'ServiceAccount' && !one.namespace ? accountOf(one.name) : undefined
    return account ? { kind: one.kind, ...account } : { ...one }
  })
  return subjects.length === 0 ? [] : [make(from, 'ClusterRoleBinding', { name }, { roleRef: refTo(name), subjects })]
}
