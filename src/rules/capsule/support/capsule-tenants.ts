import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Rendered } from '../../../facts/object-table.ts'
import type { Identity } from '../../../fleet/model/fleet.ts'
import { mayCreateNamespace, nameOfOwner, readCapsuleTenants } from '../../../fleet/tenancy/capsule.ts'
import { idOf, type KubeObject } from '../../../kube/object.ts'

export const TENANT = 'capsule.clastix.io/Tenant'
export const CONFIGURATION = 'capsule.clastix.io/CapsuleConfiguration'
export const TENANT_OWNER = 'capsule.clastix.io/TenantOwner'

/** A name that Capsule allows to every Tenant owner. */
export const ANY = 'any'

/** What the platform renders of one of Capsule's kinds on a cluster. */
export function capsuleObjects(index: FleetIndex, cluster: string, kind: string): readonly Rendered[] {
  return index.platformAnywhere(cluster, kind)
}

/** The Tenants of a cluster, and the TenantOwners that they select. */
export const tenantObjects = (index: FleetIndex, cluster: string): KubeObject[] =>
  [TENANT, TENANT_OWNER].flatMap(kind => capsuleObjects(index, cluster, kind).map(({ object }) => object))

/** The minor version of Capsule (0.x) that a cluster runs; the newest known one where nothing shows it. */
export const webhookVersion = (index: FleetIndex, cluster: string): number => index.capsule(cluster).minor

/** The Capsule Tenants of a cluster that an identity owns, by its name or by a group of its namespace. */
export function tenantsOwnedBy(index: FleetIndex, cluster: string, identity: Identity): KubeObject[] {
  const all = tenantObjects(index, cluster)
  const owned = readCapsuleTenants(all).filter(({ owners }) =>
    mayCreateNamespace(identity, ANY, new Set(owners.map(nameOfOwner))),
  )
  const names = new Set(owned.map(({ name }) => name))
  return all.filter(object => idOf(object).kind === 'Tenant' && names.has(idOf(object).name))
}

/** Names of Capsule Tenants. */
export function namesOf(tenants: readonly KubeObject[]): string[] {
  return tenants.map(object => idOf(object).name)
}
