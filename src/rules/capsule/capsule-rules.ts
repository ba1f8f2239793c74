import type { Rule } from '../rule.ts'

/** What Capsule holds together. */
export const capsuleRules: readonly Rule[] = []
