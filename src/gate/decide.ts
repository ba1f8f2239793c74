import { BailiwickError } from '../errors.ts'
import type { HumanDecisions } from './circumstances.ts'
import type { Outcome } from './outcome.ts'

/** The conclusion of a check run, and its reason. */
export interface Decision {
  /** Never `neutral` or `skipped`: GitHub lets those satisfy a required check. */
  readonly conclusion: 'success' | 'failure'
  /** What decided it. */
  readonly by: 'hold' | 'override' | 'required-approval' | 'verdict'
  /** Orders decisions about one commit: 0 passes, 1 is blocked, 2 and 3 could not be evaluated (in part, at all). */
  readonly severity: 0 | 1 | 2 | 3
}

/**
 * Makes the decision of the gate; no other code does. A hold blocks first, then an override passes, then the verdict
 * counts, and a missing required approval blocks a pass.
 */
export function decide(outcome: Outcome, decisions: Omit<HumanDecisions, 'worse'>): Decision {
  const { hold, override, demands } = decisions
  if (hold) return blocked('hold', outcome)
  if (override) return { conclusion: 'success', by: 'override', severity: 0 }
  if (!passes(outcome)) return blocked('verdict', outcome)
  if (demands.length > 0) return blocked('required-approval', outcome)
  return { conclusion: 'success', by: 'verdict', severity: 0 }
}

/** What no fleet reads passes; what could not be evaluated does not. */
function passes(outcome: Outcome): boolean {
  if (outcome === undefined) return true
  return !(outcome instanceof BailiwickError) && outcome.result === 'pass'
}

function blocked(by: Decision['by'], outcome: Outcome): Decision {
  if (outcome instanceof BailiwickError) return { conclusion: 'failure', by, severity: 3 }
  return { conclusion: 'failure', by, severity: outcome?.result === 'error' ? 2 : 1 }
}
