import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { mayCreateNamespace } from '../../../fleet/tenancy/capsule.ts'
import { ownerRemoved } from '../../capsule/support/owner-removed.ts'
import type { RuleContext } from '../../model/rule.ts'

/**
 * Whether a namespace is the tenant's own, or one that it had before the change and goes on creating with Capsule while
 * another tenant claims it too: nobody owns that one now, but who was first is not to blame. The same where the platform takes
 * the Capsule Tenant from its owner.
 */
export function keepsNamespace(context: RuleContext, cluster: string, tenant: string, namespace: string): boolean {
  const { index, before } = context
  if (index.owns(cluster, tenant, namespace)) return true
  if (!before?.owns(cluster, tenant, namespace) || index.ownerOf(cluster, namespace) !== undefined) return false
  if (ownerRemoved(context, cluster, tenant)) return true
  return claimants(index, cluster, namespace).includes(tenant)
}

/** The tenants that create a namespace with Capsule, sorted; of several, Capsule gives it to the first. None where the platform writes it. */
export function claimants(index: FleetIndex, cluster: string, namespace: string): string[] {
  const versions = index.versionsOf(cluster, '/Namespace', '', namespace)
  const owners = index.capsuleOwners(cluster)
  const tenants = versions.flatMap(({ node }) =>
    node.tenant !== undefined && mayCreateNamespace(node.identity, namespace, owners) ? [node.tenant] : [],
  )
  return versions.every(({ node }) => node.tenant !== undefined) ? [...new Set(tenants)].sort() : []
}
