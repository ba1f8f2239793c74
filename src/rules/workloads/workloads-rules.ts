import type { Rule } from '../rule.ts'
import { podSecurity } from './pod-security.ts'

/** What runs, and how it is reached. */
export const workloadsRules: readonly Rule[] = [podSecurity]
