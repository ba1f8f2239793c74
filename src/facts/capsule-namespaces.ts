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
import { stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { userInfo, userOfAccount } from '../kube/rbac/groups-of.ts'
import type { ResourceRequest } from '../kube/rbac/request.ts'
import { capsuleSettings } from './capsule-settings.ts'
import { type CapsuleConfiguration, capsuleUse, readConfiguration } from './capsule-users.ts'
import { capsuleVersion, minorOf } from './capsule-version.ts'
import { isPlatform } from './object-index.ts'
import type { Rendered } from './object-table.ts'
import { shownObject } from './shown.ts'

type OfKind = (kind: string) => readonly Rendered[]

/** Tenants and TenantOwners among the objects of the platform. */
export const capsuleObjects = (platform: OfKind): KubeObject[] =>
  ['Tenant', 'TenantOwner'].flatMap(kind => platform(`${CAPSULE_GROUP}/${kind}`)).map(({ object }) => object)

/**
 * The Tenant of each namespace of a cluster that Capsule counts as one of it: the ownerReference is written, Capsule's webhook sets it
 * where an owner or an administrator creates the Namespace, or the addon does for the home of an account. What else creates a
 * Namespace, Capsule does not look at, whatever its label. `rendered`: the objects of a kind; `ownerOf`: the tenant of a namespace.
 */
export function capsuleNamespaces(
  rendered: OfKind,
  ownerOf: (namespace: string) => string | undefined,
): ReadonlyMap<string, string> {
  const platform: OfKind = kind => rendered(kind).filter(isPlatform)
  const objects = capsuleObjects(platform)
  const found = new Map<string, string>()
  if (objects.length === 0) return found
  const owned = ownedTenants(objects)
  const asked = { config: readConfiguration(capsuleSettings(platform)), version: minorOf(capsuleVersion(platform)) }
  const namespaces = rendered('/Namespace')
  const created = new Set(namespaces.filter(isPlatform).map(({ object }) => idOf(object).name))
  for (const one of namespaces) {
    const { name } = idOf(one.object)
    // what the platform creates, no tenant can have created, and no other tenant may
    const isIts = isPlatform(one) || (!created.has(name) && ownerOf(name) === one.node.tenant)
    const tenant = isIts ? assignedTo(one, owned, asked) : undefined
    if (tenant !== undefined && !found.has(name)) found.set(name, tenant)
  }
  for (const { namespace, tenant } of addonAccounts(platform, objects)) found.set(namespace, tenant)
  return found
}

interface Owned {
  readonly tenants: readonly CapsuleTenant[]
  /** By `<kind> <name>`. */
  readonly byOwner: ReadonlyMap<string, readonly { readonly tenant: CapsuleTenant }[]>
}

function ownedTenants(objects: readonly KubeObject[]): Owned {
  const tenants = readCapsuleTenants(objects)
  const named = tenants.flatMap(tenant => tenant.owners.map(owner => ({ owner: nameOfOwner(owner), tenant })))
  return { tenants, byOwner: Map.groupBy(named, ({ owner }) => owner) }
}

function assignedTo(
  { node, object }: Rendered,
  { tenants, byOwner }: Owned,
  { config, version }: { readonly config: CapsuleConfiguration; readonly version: number },
): string | undefined {
  const written = node.tenant === undefined ? capsuleReferenceOf(object) : undefined
  if (written !== undefined) return written
  const { name } = idOf(object)
  const label = capsuleLabelOf(object)
  const user = userInfo(node.identity.user)
  const names = [`ServiceAccount ${user.name}`, `User ${user.name}`, ...user.groups.map(group => `Group ${group}`)]
  const all = names.flatMap(owner => (byOwner.get(owner) ?? []).map(({ tenant }) => tenant))
  const isAdmin = capsuleUse(config, user, version).role === 'administrator'
  const owned = mayCreateNamespace(node.identity, name, byOwner) ? [...new Set(all)] : []
  if (label !== undefined) return (isAdmin ? tenants : owned).find(one => one.name === label)?.name
  if (isAdmin) return undefined
  const isByPrefix = version >= 13 || config.forcesPrefix
  const prefixed = owned.filter(one => isByPrefix && name.startsWith(`${one.name}-`))
  const longest = prefixed.sort((a, b) => b.name.length - a.name.length)[0]
  // of several Capsule refuses a new one without a label: one that is there belongs to the one that no other account owns
  return (longest ?? owned.toSorted((a, b) => homesOf(a).length - homesOf(b).length)[0])?.name
}

/** By name, the owners of Capsule Tenants who may create Namespaces only if a configuration that is not visible lists them. */
export function unseenOwners(
  platform: OfKind,
  { verb, apiGroup, resource }: ResourceRequest,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  const isAsked = apiGroup === '' && resource === 'namespaces' && (verb === 'create' || verb === 'patch')
  if (!isAsked || capsuleSettings(platform).length > 0) return reasons
  for (const { name, owners } of readCapsuleTenants(capsuleObjects(platform))) {
    const tenant = shownObject('Tenant', '', name)
    const reason = `no CapsuleConfiguration is rendered, so whether Capsule lets owners of ${tenant} ${verb} Namespaces is unknown`
    for (const owner of owners) reasons.set(owner.name, reason)
  }
  return reasons
}

/** An account that the addon equips, and the first Tenant that it owns, to which the addon gives its home. */
export interface AddonAccount {
  readonly object: KubeObject
  readonly namespace: string
  readonly name: string
  readonly tenant: string
}

export function addonAccounts(platform: OfKind, ofCapsule: readonly KubeObject[]): AddonAccount[] {
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
