/** Something that a person with more rights must agree to, whatever the verdict says. */
export interface Demand {
  /** Id of the behavior in the catalogue: `gate-config-change`, `gate-workflow-change`, `gate-fork-untrusted`. */
  readonly rule: string
  /** What asks for it, who may agree, in one sentence. */
  readonly message: string
  readonly fix: string
  /** The file of the change that asks for it, where it is one. */
  readonly path?: string
}

/** What decides about a commit besides what its content is. */
export interface Circumstances {
  /** Someone holds it: it blocks, whatever the verdict. `by`: who, as far as known. */
  readonly hold?: {
    readonly by: string
    /** Who took the label off without write access to the repository: the hold stays. */
    readonly takenOffBy?: string
  }
  /** A fleet admin lets this one head pass, whatever the verdict. */
  readonly override?: { readonly by: string; readonly reason: string }
  /** Nobody agreed to these yet. */
  readonly demands: readonly Demand[]
  /**
   * GitHub keeps checks by commit. Of several open pull requests with one head, the numbers of those whose verdict stands
   * in place of the pull request's own; empty: its own is said.
   */
  readonly worse: readonly number[]
  /** The same of a base that this head has no open pull request onto, but which GitHub would let it be merged into. */
  readonly worseBase?: string
}

/** Where nothing is to be added to the verdict. */
export const NO_CIRCUMSTANCES: Circumstances = { demands: [], worse: [] }
