import type { Rule } from '../rule.ts'
import { saForeign } from './sa-foreign.ts'
import { saRequired } from './sa-required.ts'

/** Whose account acts. */
export const identityRules: readonly Rule[] = [saForeign, saRequired]
