import { NO_DECISIONS } from '../../src/gate/circumstances.ts'
import { type Decision, decide } from '../../src/gate/decide.ts'
import type { CommitOutcome } from './commit-outcome.ts'

/** Returns the decision for an outcome with its decisions. */
export function decisionOf({ outcome, context }: CommitOutcome): Decision {
  return decide(outcome, context.decisions ?? NO_DECISIONS)
}
