import type { Origin } from '../../base/origin.ts'
import type { RuleText } from '../../rules/model/rule.ts'
import type { Changes } from '../../verdict/diff/changes.ts'
import { count } from '../text/findings.ts'

/** What a working copy was evaluated as: what its sources follow. */
export interface EvaluatedAs {
  /** Normalized address; '' where it has none. */
  readonly repository: string
  readonly branch: string
  /** Where the branch is known from. */
  readonly because: string
  /** Tags and ranges of versions that sources follow instead: the working copy is evaluated as their next content. */
  readonly versions: readonly string[]
}

/** What a format of a verdict needs besides the verdict. */
export interface FormatContext {
  /** Normalized address of the reader's repository; '' where it has none. */
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
  /** Lines that a terminal shows; absent: all. */
  readonly lines?: number
  /** List everything: all changes with their fields, and how each finding came to be. */
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

/** Findings of other repositories, counted only: new violations and errors, which decide, and all others. */
export interface Elsewhere {
  readonly violations: number
  readonly errors: number
  readonly others: number
}

export const NOTHING_ELSEWHERE: Elsewhere = { violations: 0, errors: 0, others: 0 }

/** What is counted only, as one line; undefined if there is nothing. */
export function elsewhereText({ violations, errors, others }: Elsewhere): string | undefined {
  const parts = [
    ...(violations > 0 ? [count(violations, 'violation')] : []),
    ...(errors > 0 ? [count(errors, 'evaluation error')] : []),
    ...(others > 0 ? [`${count(others, 'finding')} without effect on the result`] : []),
  ]
  return parts.length === 0 ? undefined : `other repositories of the fleet: ${parts.join(', ')} (-o json lists all)`
}
