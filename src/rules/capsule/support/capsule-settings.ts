import { type CapsuleSettings, capsuleSettings as settingsOf } from '../../../facts/capsule-settings.ts'
import { type CapsuleRole, capsuleUse } from '../../../facts/capsule-users.ts'
import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { accountOf, userInfo } from '../../../kube/rbac/groups-of.ts'
import { capsuleObjects } from './capsule-tenants.ts'

export type { CapsuleSettings }

/** Where a cluster says whom Capsule looks at. */
export const capsuleSettings = (index: FleetIndex, cluster: string): CapsuleSettings[] =>
  settingsOf(kind => capsuleObjects(index, cluster, kind))

/**
 * As whom Capsule sees a user; an owner of a Tenant is a user of it where no configuration is visible: one outside the groups is
 * the rule capsule-group-missing's.
 */
export function capsuleRoleOf(index: FleetIndex, cluster: string, user: string): CapsuleRole {
  const { configuration, minor, aggregated } = index.capsule(cluster)
  if (!configuration.isVisible) return 'user'
  const { namespace = '' } = accountOf(user) ?? {}
  const isMember = index.capsuleTenantAt(cluster, namespace) !== undefined
  const isAggregated = aggregated.has(`ServiceAccount ${user}`)
  return capsuleUse(configuration, userInfo(user), minor, { isMember, isAggregated }).role
}

/** Whether Capsule's webhooks evaluate what a user writes in the namespaces of a Tenant. */
export const isCapsuleUser = (index: FleetIndex, cluster: string, user: string): boolean =>
  capsuleRoleOf(index, cluster, user) === 'user'
