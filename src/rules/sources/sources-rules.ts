import type { Rule } from '../rule.ts'

/** Where content comes from. */
export const sourcesRules: readonly Rule[] = []
