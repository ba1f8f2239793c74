import type { Rule } from '../model/rule.ts'
import { baselineGrowth } from './baseline-growth.ts'
import { configUnused } from './config-unused.ts'
import { waiverUnused } from './waiver-unused.ts'

/** What is asked of the fleet's own files. */
export const configRules: readonly Rule[] = [baselineGrowth, configUnused, waiverUnused]
