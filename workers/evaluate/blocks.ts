import type { CommitOutcome } from './commit-outcome.ts'
import { decisionOf } from './decision-of.ts'

/** Whether the decision blocks a merge. */
export function blocks(evaluated: CommitOutcome): boolean {
  return decisionOf(evaluated).conclusion !== 'success'
}
