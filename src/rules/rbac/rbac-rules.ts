import type { Rule } from '../rule.ts'

/** Who may do what. */
export const rbacRules: readonly Rule[] = []
