import { capsuleRules } from './capsule/capsule-rules.ts'
import { configRules } from './config/config-rules.ts'
import { fluxRules } from './flux/flux-rules.ts'
import { gitRules } from './git/git-rules.ts'
import { identityRules } from './identity/identity-rules.ts'
import { kustomizeRules } from './kustomize/kustomize-rules.ts'
import type { Rule } from './model/rule.ts'
import { namespacesRules } from './namespaces/namespaces-rules.ts'
import { ownershipRules } from './ownership/ownership-rules.ts'
import { rbacRules } from './rbac/rbac-rules.ts'
import { referencesRules } from './references/references-rules.ts'
import { secretsRules } from './secrets/secrets-rules.ts'
import { sourcesRules } from './sources/sources-rules.ts'
import { workloadsRules } from './workloads/workloads-rules.ts'

/** Every rule that there is, sorted by id; docs/rules.md is generated from it. */
export const rules: readonly Rule[] = [
  ...capsuleRules,
  ...configRules,
  ...fluxRules,
  ...gitRules,
  ...identityRules,
  ...kustomizeRules,
  ...namespacesRules,
  ...ownershipRules,
  ...rbacRules,
  ...referencesRules,
  ...secretsRules,
  ...sourcesRules,
  ...workloadsRules,
].sort((a, b) => (a.id < b.id ? -1 : 1))
