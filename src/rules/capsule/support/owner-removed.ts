import { isPlatform } from '../../../facts/object-index.ts'
import { mayCreateNamespace } from '../../../fleet/tenancy/capsule.ts'
import { idOf } from '../../../kube/object.ts'
import type { RuleContext } from '../../model/rule.ts'
import { ANY, capsuleObjects, TENANT } from './capsule-tenants.ts'

/**
 * Whether a change takes a Capsule Tenant that stays from the accounts of a tenant: the rule capsule-owner-change reports it
 * at the Tenant, so that other rules do not repeat it at the tenant's objects.
 */
export function ownerRemoved({ index, before }: RuleContext, cluster: string, tenant: string): boolean {
  if (!before?.isCapsuleTenant(cluster, tenant)) return false
  const [was, now] = [before.capsuleOwners(cluster), index.capsuleOwners(cluster)]
  const acting = before.namespacesOf(cluster, tenant).flatMap(namespace => index.nodesIn(cluster, namespace))
  const isRemoved = acting.some(({ identity }) => {
    return mayCreateNamespace(identity, ANY, was) && !mayCreateNamespace(identity, ANY, now)
  })
  const isLeft = capsuleObjects(index, cluster, TENANT).some(({ object }) => {
    return before.versionsOf(cluster, TENANT, '', idOf(object).name).some(isPlatform)
  })
  return isRemoved && isLeft
}
