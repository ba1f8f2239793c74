import type { Rule } from '../rule.ts'

/** What steers Flux. */
export const fluxRules: readonly Rule[] = []
