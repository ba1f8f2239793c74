import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { followedBy } from '../../../facts/source-ref.ts'
import type { TenantSubject } from '../../../facts/subject.ts'
import { isGatedBranch } from '../../../fleet/config/gated-branch.ts'
import { memberSettings } from '../../../fleet/config/member-settings.ts'
import type { FleetConfig } from '../../../fleet/model/fleet-config.ts'

/**
 * Whether a push to what a tenant's GitRepository follows is evaluated for that tenant before it is merged: the branch requires
 * our check, and a change there is evaluated as the tenant's. The check of another tenant's repository says nothing about it.
 */
export function isGatedSource(
  index: FleetIndex,
  config: FleetConfig,
  { object, id, node }: Pick<TenantSubject, 'object' | 'id' | 'node'>,
): boolean {
  const { url, ref } = followedBy(object, config.aliases)
  if (config.tenantSources === 'gated' && index.isGatedByRules(node.cluster, id.namespace, id.name)) return true
  if (ref.branch === undefined || index.isRefused(node.cluster, id.namespace, id.name)) return false
  const isTheirs =
    index.usersOf(url).includes(node.tenant) ||
    memberSettings(config, node.tenant).every(one => one?.repositories.has(url)) ||
    index.rootOf(node.cluster)?.source.url === url
  return isTheirs && (index.followerOf(url, ref) === 'platform' || isGatedBranch(config, url, ref.branch))
}
