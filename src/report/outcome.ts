import type { ChangePrunes } from '../approval/change-prunes.ts'
import type { Changes } from '../diff/changes.ts'
import type { Fix } from '../fix/fixes-of.ts'
import type { HumanDecisions } from '../gate/circumstances.ts'
import type { EvaluatedNode } from '../rules/model/finding.ts'

export type { Outcome } from '../gate/outcome.ts'

/** Where it is said, and about what. */
export interface ReportContext {
  readonly kind: 'pull-request' | 'branch' | 'merge-group'
  /** Normalised address of the repository that it is said on. */
  readonly repository: string
  /** The commit that the check run stands on. */
  readonly headSha: string
  /** The fleet's address and the commit of it that was evaluated; absent where no fleet was read. */
  readonly fleet?: { readonly repository: string; readonly commit: string }
  /** The repository belongs to these tenants: nothing of others is shown there. Absent: the fleet repository. */
  readonly audience?: readonly string[]
  /** What was evaluated: by it the words of others are known that an audience is not shown. */
  readonly nodes?: readonly EvaluatedNode[]
  /** Files that the pull request changes: what stems from an unchanged file is annotated where a changed one leads to it. */
  readonly changedPaths?: ReadonlySet<string>
  /** There are certain fixes, and a commit of ours may be put onto the head. */
  readonly fixable?: boolean
  /** Certain edits of files as the head has them; absent: none. */
  readonly fixes?: readonly Fix[]
  /** What decides besides the verdict; absent: nothing. */
  readonly decisions?: HumanDecisions
  /** What a pull request does to what the clusters get, as its audience may see it; absent: not compared. */
  readonly changes?: Changes
  /** What a worker would hold back after the merge, because it deletes much at once; absent: nothing. */
  readonly prunes?: ChangePrunes
  /** Address of the details page. */
  readonly page?: string
}
