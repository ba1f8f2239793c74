import type { Changes } from '../../diff/changes.ts'
import type { Origin } from '../../origin.ts'
import type { RuleText } from '../../rules/model/rule.ts'
import type { Elsewhere } from './elsewhere.ts'

/** What a working copy was evaluated as: what its sources follow. */
export interface EvaluatedAs {
  /** Normalised address; '' where it has none. */
  readonly repository: string
  readonly branch: string
  /** Where the branch is known from. */
  readonly because: string
  /** Tags and ranges of versions that sources follow instead: the working copy is evaluated as their next content. */
  readonly versions: readonly string[]
}

/** What a format of a verdict needs besides the verdict. */
export interface FormatContext {
  /** Normalised address of the repository in which the reader stands; '' where it has none. */
  readonly here: string
  readonly rules: readonly RuleText[]
  /** Version of this program. */
  readonly version: string
  readonly evaluatedAs?: EvaluatedAs
  /** Findings of other repositories that the verdict does not list and that its result counts. */
  readonly elsewhere?: Elsewhere
  /** What the change does to what the clusters get; absent where nothing is compared. */
  readonly changes?: Changes
  /** The reader's terminal shows colors. */
  readonly color?: boolean
  /** Width of the reader's terminal; absent: lines are not broken. */
  readonly columns?: number
  /** List all changes with their fields. */
  readonly verbose?: boolean
  /** Prints only blocking findings and the result. */
  readonly quiet?: boolean
  /** The source line of a value; undefined if the file is not available. */
  readonly excerpt?: (origin: Origin) => string | undefined
  /** The branch of the reader's repository that has the file, where what the reader has does not. `node`: key of a finding's node. */
  readonly branchOf?: (origin: Origin, node: string) => string | undefined
  /** Absolute path of the local repository, if the terminal supports links. */
  readonly folder?: string
}
