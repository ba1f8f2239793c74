import { NO_CIRCUMSTANCES } from '../../src/gate/circumstances.ts'
import { type Decision, decide } from '../../src/gate/decide.ts'
import type { CommitOutcome } from './commit-outcome.ts'

/** Returns the decision for an outcome with its circumstances. */
export function decisionOf({ outcome, context }: CommitOutcome): Decision {
  return decide(outcome, context.circumstances ?? NO_CIRCUMSTANCES)
}
