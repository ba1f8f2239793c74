/** An approval that the change needs, whatever the verdict is. */
export interface MissingApproval {
  /** Id of the behavior in the catalogue: `gate-config-change`, `gate-workflow-change`, `gate-fork-untrusted`. */
  readonly rule: string
  /** What asks for it, who may agree, in one sentence. */
  readonly message: string
  readonly fix: string
  /** The file of the change that asks for it, where it is one. */
  readonly path?: string
}

/** An approval that the change needed, and who gave it for exactly this head. */
export interface GivenApproval {
  readonly rule: string
  readonly by: string
}

/** Everything besides the verdict that affects the decision: hold, override and required approvals. */
export interface HumanDecisions {
  /** Someone holds it: it blocks, whatever the verdict. `by`: who, as far as known. */
  readonly hold?: {
    readonly by: string
    /** Who took the label off without write access to the repository: the hold stays. */
    readonly takenOffBy?: string
  }
  /** A fleet admin lets this one head pass, whatever the verdict. */
  readonly override?: { readonly by: string; readonly reason: string }
  /** Not given yet. */
  readonly demands: readonly MissingApproval[]
  /** Required approvals that were given; absent: none. */
  readonly approvals?: readonly GivenApproval[]
  /**
   * GitHub keeps checks by commit. Of several open pull requests with one head and base, the numbers of those whose verdict stands
   * in place of the pull request's own; empty: its own stands.
   */
  readonly worse: readonly number[]
}

/** No hold, no override and no required approvals. */
export const NO_DECISIONS: HumanDecisions = { demands: [], worse: [] }
