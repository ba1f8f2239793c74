import type { Rule } from '../rule.ts'

/** What runs. */
export const workloadsRules: readonly Rule[] = []
