/** What was decided; `gap`: decisions that could not be written. Add, do not rename: entries are kept for ever. */
export const DECISION_KINDS = [
  'verdict',
  'override',
  'waiver',
  'onboarding',
  'approve-prune',
  'apply',
  'gap',
  'approval',
  'hold',
  'unhold',
  'rotation',
  'offboarding',
  'adoption',
  'lockdown',
  'designation',
  'gate',
  'enforcement',
  'move',
  'rename',
  'hand-over',
  'completion',
  'fix',
  // actions of the App itself
  'pull-request',
  'commit',
  'key-added',
  'key-deleted',
] as const

export type DecisionKind = (typeof DECISION_KINDS)[number]

/** A repository at a commit: one member of a revision set. */
export interface TrailRevision {
  /** Normalized address. */
  readonly repository: string
  /** 40 hex digits, or `sha256:` and 64 of an artifact. */
  readonly commit: string
}

/** One decision, before it has a place in the trail. */
export interface TrailDecision {
  /** The same for the same decision, however often it is reported. */
  readonly id: string
  readonly kind: DecisionKind
  /** When it was made: ISO 8601, UTC. */
  readonly at: string
  /** Login of the person; the name of the App where it decided by itself. */
  readonly who: string
  /** Repository that it is about, `owner/name`; for `apply` the commit's. */
  readonly repository: string
  readonly commit?: string
  readonly pull?: number
  /** For `apply`. */
  readonly cluster?: string
  /** `pass`, `fail`, `error`, `applied`, ... */
  readonly result: string
  /** Version of engine and rules that decided. */
  readonly engine: string
  /** Everything that was evaluated; empty where nothing was. */
  readonly revisions: readonly TrailRevision[]
  /** Members of the revision set that are not listed, because the line would be too long. */
  readonly revisionsOmitted?: number
  /** SHA-256 of what was decided, in full: findings, objects, words. 64 hex digits. */
  readonly digest: string
  /** Of entries of earlier releases: all that a verdict was made from. It is kept as it is, for the hash of its line. */
  readonly inputs?: object
  /** The inputs were not listed, because the line would have been too long. */
  readonly inputsOmitted?: true
}

/** A decision in its place: `previous` is the hash of the line before it, so no earlier line can change unnoticed. */
export interface TrailEntry extends TrailDecision {
  /** From 1, without gaps. */
  readonly seq: number
  readonly previous: string
  /** Id of the fleet's repository on GitHub; an entry is not valid in another fleet's trail. Absent in entries of earlier releases. */
  readonly fleet?: number
}

/** A place of the chain that is known from elsewhere: entry `seq` has a hash that begins so. */
export interface TrailAnchor {
  readonly seq: number
  /** At least 24 hex digits of the hash. */
  readonly hash: string
}

/** The last entry that the App wrote to a trail. */
export interface WrittenEnd extends TrailAnchor {
  /** The commit that added the entry; absent in stores of earlier releases. */
  readonly commit?: string
}

/** What the first entry has before it. */
export const NO_ENTRY = '0'.repeat(64)
