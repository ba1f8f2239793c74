import type { App, Repository, User } from '../world.ts'

export interface Comment {
  readonly id: number
  readonly issue: number
  readonly user: User
  readonly app: App | undefined
  body: string
  readonly createdAt: string
  updatedAt: string
  readonly reactions: Reaction[]
}

export interface Reaction {
  readonly id: number
  readonly user: User
  readonly content: string
  readonly createdAt: string
}

/** What happened to an issue, as its timeline tells. */
export interface IssueEvent {
  readonly id: number
  readonly event:
    | 'labeled'
    | 'unlabeled'
    | 'closed'
    | 'reopened'
    | 'merged'
    | 'renamed'
    | 'convert_to_draft'
    | 'ready_for_review'
    | 'base_ref_changed'
    | 'automatic_base_change_succeeded'
  readonly actor: User
  readonly label: Label | undefined
  readonly at: string
}

export interface Label {
  readonly id: number
  name: string
  color: string
  description: string | null
  readonly isDefault: boolean
}

/** An issue; a pull request is one too, with the same number. */
export interface Issue {
  readonly id: number
  readonly number: number
  readonly user: User
  readonly app: App | undefined
  title: string
  body: string | null
  state: 'open' | 'closed'
  stateReason: 'completed' | 'not_planned' | 'duplicate' | 'reopened' | null
  /** Names, as the repository's `labels` has them. */
  readonly labels: string[]
  readonly createdAt: string
  updatedAt: string
  closedAt: string | null
  readonly reactions: Reaction[]
  readonly events: IssueEvent[]
}

export interface Pull {
  readonly id: number
  readonly issue: Issue
  readonly head: { readonly repository: Repository; readonly ref: string; sha: string }
  readonly base: { ref: string; sha: string }
  draft: boolean
  /** Who pushed the head. */
  pushedBy: User
  /** null while it is being computed, as on GitHub; `mergeCommit` is then still the previous one. */
  mergeable: boolean | null
  mergeCommit: string | null
  merged: { readonly by: User; readonly at: string } | undefined
  readonly reviews: Review[]
}

export interface Review {
  readonly id: number
  readonly user: User
  readonly app: App | undefined
  body: string
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'PENDING' | 'DISMISSED'
  /** The head when it was written; an approval says nothing about later ones. */
  readonly commit: string
  /** When it was submitted; null while it is pending. */
  at: string | null
  readonly comments: ReviewComment[]
}

export interface ReviewComment {
  readonly id: number
  readonly user: User
  readonly path: string
  readonly side: 'LEFT' | 'RIGHT'
  /** Within the file at `commit` (of the base for the side LEFT), whatever came later. */
  readonly line: number
  readonly startLine: number | undefined
  readonly commit: string
  readonly hunk: string
  body: string
  readonly inReplyTo: number | undefined
  readonly createdAt: string
  updatedAt: string
  /** Of the thread that this comment began. */
  isResolved: boolean
}
