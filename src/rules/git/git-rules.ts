import type { Rule } from '../rule.ts'

/** What a repository holds. */
export const gitRules: readonly Rule[] = []
