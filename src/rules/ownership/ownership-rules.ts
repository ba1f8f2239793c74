import type { Rule } from '../rule.ts'

/** Who owns what, and what goes away. */
export const ownershipRules: readonly Rule[] = []
