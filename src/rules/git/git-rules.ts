import type { Rule } from '../rule.ts'
import { gitLfsPointer } from './git-lfs-pointer.ts'
import { gitPathAmbiguous } from './git-path-ambiguous.ts'

/** What a repository holds. */
export const gitRules: readonly Rule[] = [gitLfsPointer, gitPathAmbiguous]
