import type { Rule } from '../model/rule.ts'
import { capsuleGroupMissing } from './capsule-group-missing.ts'
import { capsuleOwnerChange } from './capsule-owner-change.ts'
import { capsulePolicyWeakened } from './capsule-policy-weakened.ts'
import { capsuleTenantResource } from './capsule-tenant-resource.ts'

/** What Capsule holds together. */
export const capsuleRules: readonly Rule[] = [
  capsuleGroupMissing,
  capsuleOwnerChange,
  capsulePolicyWeakened,
  capsuleTenantResource,
]
