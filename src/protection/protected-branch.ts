/** A check that must have passed; `app` null: whoever reports a check or a status of that name. */
interface RequiredCheck {
  readonly context: string
  readonly app: number | null
}

/** The requirements of one ruleset or branch protection; undefined if GitHub does not show them to the App. */
export interface ProtectionLayer {
  /** `protection`: the branch protection of the repository's settings. */
  readonly kind: 'protection' | 'ruleset'
  /** Of a ruleset. */
  readonly name: string
  /** Whose ruleset it is: `Repository`, `Organization`, `Enterprise`. */
  readonly of: string
  readonly checks: readonly RequiredCheck[]
  /** Whether a branch must be up to date before it is merged. */
  readonly strict: boolean | undefined
  readonly mergeQueue: boolean
  readonly pullRequest: boolean | undefined
  readonly forbidsForcePush: boolean | undefined
  readonly forbidsDeletion: boolean | undefined
  /** Who may pass by it, in words; empty: nobody. */
  readonly bypass: readonly string[] | undefined
}

/** The protection of one branch, as GitHub reports it. Plain data. */
export interface ProtectedBranch {
  /** Normalised address of the repository. */
  readonly url: string
  readonly branch: string
  readonly layers: readonly ProtectionLayer[]
  /** Whether the branch protection could not be read, so that it may ask more than `layers` show. */
  readonly hidden: boolean
  /** Rulesets that would require our check and are only evaluated. */
  readonly evaluated: readonly string[]
  /** Other Apps that reported a check of our name on the head of the branch. */
  readonly namesakes: readonly string[]
}
