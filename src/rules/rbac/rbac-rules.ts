import type { Rule } from '../model/rule.ts'
import { rbacAggregation } from './rbac-aggregation.ts'
import { rbacClusterBinding } from './rbac-cluster-binding.ts'
import { rbacDanglingRole } from './rbac-dangling-role.ts'
import { rbacEscalation } from './rbac-escalation.ts'
import { rbacFluxStatusWrite } from './rbac-flux-status-write.ts'
import { rbacForeignSubject } from './rbac-foreign-subject.ts'
import { rbacPublicSubject } from './rbac-public-subject.ts'

/** Who may do what. */
export const rbacRules: readonly Rule[] = [
  rbacAggregation,
  rbacClusterBinding,
  rbacDanglingRole,
  rbacEscalation,
  rbacFluxStatusWrite,
  rbacForeignSubject,
  rbacPublicSubject,
]
