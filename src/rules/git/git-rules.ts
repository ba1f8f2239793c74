import type { Rule } from '../model/rule.ts'
import { gitAttributesTamper } from './git-attributes-tamper.ts'
import { gitLfsPointer } from './git-lfs-pointer.ts'
import { gitPathAmbiguous } from './git-path-ambiguous.ts'
import { gitRefAmbiguous } from './git-ref-ambiguous.ts'
import { sourceIgnoreTamper } from './source-ignore-tamper.ts'

/** What a repository holds. */
export const gitRules: readonly Rule[] = [
  gitAttributesTamper,
  gitLfsPointer,
  gitPathAmbiguous,
  gitRefAmbiguous,
  sourceIgnoreTamper,
]
