import type { RuleText } from '../../rules/rule.ts'

/** What a format of a verdict needs besides the verdict. */
export interface FormatContext {
  /** Normalised address of the repository in which the reader stands; '' where it has none. */
  readonly here: string
  readonly rules: readonly RuleText[]
  /** Version of this program. */
  readonly version: string
}
