import type { Rule } from '../rule.ts'
import { networkExposure } from './network-exposure.ts'
import { nodePlacement } from './node-placement.ts'
import { podPriority } from './pod-priority.ts'
import { podSecurity } from './pod-security.ts'

/** What runs, and how it is reached. */
export const workloadsRules: readonly Rule[] = [networkExposure, nodePlacement, podPriority, podSecurity]
