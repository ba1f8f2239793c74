import { mayCreateNamespace } from '../../../fleet/tenancy/capsule.ts'
import type { RuleContext } from '../../model/rule.ts'

/**
 * Whether a namespace is the tenant's own, or one that it had before the change and goes on creating with Capsule while
 * another tenant claims it too: nobody owns that one now, but who was first is not to blame.
 */
export function keepsNamespace(
  { index, before }: RuleContext,
  cluster: string,
  tenant: string,
  namespace: string,
): boolean {
  if (index.owns(cluster, tenant, namespace)) return true
  if (!before?.owns(cluster, tenant, namespace) || index.ownerOf(cluster, namespace) !== undefined) return false
  const versions = index.versionsOf(cluster, '/Namespace', '', namespace)
  const owners = index.capsuleOwners(cluster)
  return (
    versions.every(({ node }) => node.tenant !== undefined) &&
    versions.some(({ node }) => node.tenant === tenant && mayCreateNamespace(node.identity, namespace, owners))
  )
}
