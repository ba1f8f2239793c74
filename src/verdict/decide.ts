import { BailiwickError } from '../base/errors.ts'
import type { Verdict } from '../rules/model/finding.ts'

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
  const { hold, override, missing } = decisions
  if (hold) return blocked('hold', outcome)
  if (override) return { conclusion: 'success', by: 'override', severity: 0 }
  if (!passes(outcome)) return blocked('verdict', outcome)
  if (missing.length > 0) return blocked('required-approval', outcome)
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

/** An approval that the change needs, whatever the verdict is. */
export interface MissingApproval {
  /** Id of the behavior in the catalogue: `gate-config-change`, `gate-workflow-change`, `gate-fork-untrusted`. */
  readonly rule: string
  /** What requires it and who may approve, in one sentence. */
  readonly message: string
  readonly fix: string
  /** The file of the change that requires it, where it is one. */
  readonly path?: string
}

/** An approval that the change needed, and who gave it for exactly this head. */
export interface GivenApproval {
  readonly rule: string
  readonly by: string
}

/** The label that holds a pull request. It is on GitHub, so it is visible and independent of this process. */
export const HOLD_LABEL = 'bailiwick/hold'

/** Everything besides the verdict that affects the decision: hold, override and required approvals. */
export interface HumanDecisions {
  /** Someone holds it: it blocks, whatever the verdict. `by`: who, as far as known. */
  readonly hold?: {
    readonly by: string
    /** Who removed the label without write access to the repository: the hold stays. */
    readonly takenOffBy?: string
  }
  /** A fleet admin lets this one head pass, whatever the verdict; until a time: every pull request of the fleet. */
  readonly override?: { readonly by: string; readonly reason: string; readonly until?: string }
  /** Not given yet. */
  readonly missing: readonly MissingApproval[]
  /** Required approvals that were given; absent: none. */
  readonly approvals?: readonly GivenApproval[]
  /**
   * GitHub keeps checks by commit. Of several open pull requests with one head and base, the numbers of those whose verdict
   * replaces the pull request's own; empty: its own counts.
   */
  readonly worse: readonly number[]
}

/** No hold, no override and no required approvals. */
export const NO_DECISIONS: HumanDecisions = { missing: [], worse: [] }

/**
 * The result of an evaluation: a verdict, an error before a verdict was possible, or undefined if no fleet resources
 * are affected.
 */
export type Outcome = Verdict | BailiwickError | undefined
