/** What a verdict was made from, so that it can be made again. Contents are named by git tree: equal trees, equal bytes. */
export interface TrailInputs {
  readonly kind: 'pull-request' | 'branch' | 'merge-group'
  /** Normalized address of the repository on which it was published. */
  readonly repository: string
  /** SHA-256 of the verdict. 64 hex digits. */
  readonly verdict: string
  /** What each fleet evaluated; none where the evaluation ended with an error before. */
  readonly fleets: readonly TrailEvaluation[]
  readonly people: TrailPeople
}

/** What people had decided, as GitHub showed it then. */
export interface TrailPeople {
  /** Login of who holds it. */
  readonly hold?: string
  /** Login of who overrode the verdict. */
  readonly override?: string
  readonly approvals: readonly TrailApproval[]
  /** Rules whose required approval was missing. */
  readonly missing: readonly string[]
}

/** A required approval that somebody gave. */
export interface TrailApproval {
  readonly rule: string
  /** Login of who gave it, and was allowed to at that time. */
  readonly by: string
}

/** One evaluation by a fleet. */
export interface TrailEvaluation {
  /** SHA-256 of its verdict, before it is limited to what the repository may see. */
  readonly verdict: string
  /** The day by which waivers held: `YYYY-MM-DD`. */
  readonly today: string
  /** Address of the repository that the change is in, where it is not the fleet. */
  readonly changed?: string
  readonly contents: readonly TrailContent[]
  readonly head: TrailSide
  readonly base?: TrailSide
  /** Earlier commits of the fleet that were looked at, and whether there are no more. */
  readonly earlier: readonly TrailContent[]
  readonly earlierIsAll: boolean
  /** Nodes at which the evaluation was ended, because they took too long. */
  readonly stopped: readonly string[]
  /** Earlier addresses of repositories, and the present ones. */
  readonly names: readonly TrailName[]
  /** Sources that fewer people can see than the repository. */
  readonly narrower: readonly string[]
}

/** A repository at a commit, or an artifact at a digest. */
export interface TrailContent {
  readonly repository: string
  /** What the source follows, as JSON. */
  readonly ref: string
  readonly commit: string
  /** Id of its git tree: 40 hex digits. */
  readonly tree: string
}

/** A revision set: numbers count `contents` from 0. */
export interface TrailSide {
  readonly fleet: number
  readonly branch: string
  readonly sources: readonly number[]
  readonly unread: readonly TrailUnread[]
  readonly facts: readonly TrailFact[]
  readonly disabledRules: readonly string[]
  readonly registries: readonly string[]
}

/** A source that could not be read. */
export interface TrailUnread {
  readonly repository: string
  readonly ref: string
  readonly reason: string
}

/** What GitHub said about a repository. */
export interface TrailFact {
  readonly repository: string
  readonly public: boolean
  /** Everybody who brought the change may read it. */
  readonly people?: boolean
}

/** An earlier address of a repository. */
export interface TrailName {
  readonly was: string
  readonly now: string
}
