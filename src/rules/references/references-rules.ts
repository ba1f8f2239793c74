import type { Rule } from '../rule.ts'
import { crossNamespaceRef } from './cross-namespace-ref.ts'

/** What refers to what. */
export const referencesRules: readonly Rule[] = [crossNamespaceRef]
