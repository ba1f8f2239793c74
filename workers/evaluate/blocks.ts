import type { CommitOutcome } from './commit-outcome.ts'
import { decisionOf } from './decision-of.ts'

/** Whether the decision blocks a merge. */
export function blocks(said: CommitOutcome): boolean {
  return decisionOf(said).conclusion !== 'success'
}
