import { type CapsuleSettings, capsuleSettings as settingsOf } from '../../../facts/capsule-settings.ts'
import { type CapsuleRole, capsuleUse } from '../../../facts/capsule-users.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { nameOfOwner, readCapsuleTenants } from '../../../fleet/tenancy/capsule.ts'
import { accountOf, userInfo } from '../../../kube/rbac/groups-of.ts'
import { capsuleObjects, TENANT, TENANT_OWNER } from './capsule-tenants.ts'

export type { CapsuleSettings }

/** Where a cluster says whom Capsule looks at. */
export const capsuleSettings = (index: FleetIndex, cluster: string): CapsuleSettings[] =>
  settingsOf(kind => capsuleObjects(index, cluster, kind))

/** Owners whom Capsule accepts without an entry in its configuration, as `nameOfOwner` writes them. */
export function aggregatedOwners(index: FleetIndex, cluster: string): ReadonlySet<string> {
  const all = [TENANT, TENANT_OWNER].flatMap(kind => capsuleObjects(index, cluster, kind).map(({ object }) => object))
  const owners = readCapsuleTenants(all).flatMap(tenant => tenant.owners)
  return new Set(owners.filter(one => one.isAggregated).map(nameOfOwner))
}

/**
 * As whom Capsule sees a user; an owner of a Tenant is a user of it where no configuration is visible: one outside the groups is
 * the rule capsule-group-missing's.
 */
export function capsuleRoleOf(index: FleetIndex, cluster: string, user: string): CapsuleRole {
  const { configuration, minor } = index.capsule(cluster)
  if (!configuration.isVisible) return 'user'
  const { namespace = '' } = accountOf(user) ?? {}
  const isMember = index.capsuleTenantAt(cluster, namespace) !== undefined
  const isAggregated = aggregatedOwners(index, cluster).has(`ServiceAccount ${user}`)
  return capsuleUse(configuration, userInfo(user), minor, { isMember, isAggregated }).role
}

/** Whether Capsule's webhooks evaluate what a user writes in the namespaces of a Tenant. */
export const isCapsuleUser = (index: FleetIndex, cluster: string, user: string): boolean =>
  capsuleRoleOf(index, cluster, user) === 'user'
