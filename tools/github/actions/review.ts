import { announceReview, announceReviewComment } from '../events/review-events.ts'
import { type PatchPlace, placeInPatch, type Side } from '../git/patch-lines.ts'
import { HttpError } from '../http/http-error.ts'
import { changesOf } from '../json/pull.ts'
import {
  type App,
  now,
  type Pull,
  type Repository,
  type Review,
  type ReviewComment,
  type User,
  type World,
} from '../world.ts'
import { checkText } from './pull.ts'

export interface NewReviewComment {
  readonly path: string
  readonly line: number
  readonly side?: Side | undefined
  readonly startLine?: number | undefined
  readonly body: string
}

export interface NewReview {
  readonly state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'PENDING'
  readonly body: string
  /** Default the head. */
  readonly commit?: string | undefined
  readonly comments: readonly NewReviewComment[]
}

/** Writes a review. Throws 422 for one's own pull request, an empty one, and comments on lines that the diff lacks. */
export function writeReview(
  world: World,
  repository: Repository,
  pull: Pull,
  by: { readonly user: User; readonly app: App | undefined },
  wanted: NewReview,
): Review {
  const { user } = by
  checkReview(pull, user, wanted)
  const commit = wanted.commit ?? pull.head.sha
  const at = now()
  const comments = wanted.comments.map((comment): ReviewComment => {
    const place = placeOf(repository, pull, comment)
    if (typeof place === 'string') throw new HttpError(422, 'Unprocessable Entity', [place])
    return newComment(world, user, commit, comment, place.text)
  })
  const review: Review = {
    ...{ id: world.nextId(), ...by, body: wanted.body, state: wanted.state, commit, comments },
    at: wanted.state === 'PENDING' ? null : at,
  }
  pull.reviews.push(review)
  if (review.state !== 'PENDING') announce(world, repository, pull, review)
  return review
}

/** Submits a pending review. Throws 422 as `writeReview`. */
export function submitReview(
  world: World,
  repository: Repository,
  pull: Pull,
  review: Review,
  { state, body }: { state: Exclude<NewReview['state'], 'PENDING'>; body: string | undefined },
): void {
  if (review.state !== 'PENDING')
    throw new HttpError(422, 'Unprocessable Entity', ['Review has already been submitted'])
  checkReview(pull, review.user, { state, body: body ?? review.body, comments: review.comments })
  Object.assign(review, { state, body: body ?? review.body, at: now() })
  announce(world, repository, pull, review)
}

/** Dismisses an approval or a request for changes. Throws 422 for any other. */
export function dismissReview(world: World, repository: Repository, pull: Pull, review: Review, by: User): void {
  if (review.state !== 'APPROVED' && review.state !== 'CHANGES_REQUESTED') {
    throw new HttpError(422, 'Validation Failed', [
      `Can not dismiss a ${review.state.toLowerCase()} pull request review`,
    ])
  }
  review.state = 'DISMISSED'
  announceReview(world, repository, pull, 'dismissed', review, by)
}

/** Writes one comment on a line, which is a review of its own. Throws 422 when the diff has not that line. */
export function writeReviewComment(
  world: World,
  repository: Repository,
  pull: Pull,
  by: { readonly user: User; readonly app: App | undefined },
  wanted: NewReviewComment & { readonly commit: string },
): { review: Review; comment: ReviewComment } {
  const place = placeOf(repository, pull, wanted)
  if (typeof place === 'string') {
    const field = place.startsWith('Path') ? 'path' : 'line'
    const message = `pull_request_review_thread.${field} ${field === 'line' ? 'must be part of the diff' : 'is invalid'}`
    const error = { resource: 'PullRequestReviewComment', code: 'custom', message } as const
    throw new HttpError(422, 'Validation Failed', [{ ...error, field: `pull_request_review_thread.${field}` }])
  }
  checkText('PullRequestReviewComment', 'body', wanted.body)
  return single(world, repository, pull, by, newComment(world, by.user, wanted.commit, wanted, place.text))
}

/** Answers in the thread of a comment. */
export function replyTo(
  world: World,
  repository: Repository,
  pull: Pull,
  by: { readonly user: User; readonly app: App | undefined },
  first: ReviewComment,
  body: string,
): { review: Review; comment: ReviewComment } {
  checkText('PullRequestReviewComment', 'body', body)
  const reply = { ...newComment(world, by.user, first.commit, first, first.hunk), body }
  return single(world, repository, pull, by, { ...reply, inReplyTo: first.inReplyTo ?? first.id })
}

function single(
  world: World,
  repository: Repository,
  pull: Pull,
  by: { readonly user: User; readonly app: App | undefined },
  comment: ReviewComment,
) {
  const review: Review = {
    ...{ id: world.nextId(), ...by, body: '', state: 'COMMENTED', commit: comment.commit, at: now() },
    comments: [comment],
  }
  pull.reviews.push(review)
  announce(world, repository, pull, review)
  return { review, comment }
}

function newComment(world: World, user: User, commit: string, wanted: NewReviewComment, hunk: string): ReviewComment {
  const { path, line, startLine, body, side = 'RIGHT' } = wanted
  return {
    ...{ id: world.nextId(), user, path, side, line, startLine, commit, hunk, body, inReplyTo: undefined },
    ...{ createdAt: now(), updatedAt: now(), isResolved: false },
  }
}

function announce(world: World, repository: Repository, pull: Pull, review: Review): void {
  pull.issue.updatedAt = now()
  announceReview(world, repository, pull, 'submitted', review, review.user)
  for (const comment of review.comments) {
    announceReviewComment(world, repository, pull, 'created', { review, comment }, review.user)
  }
}

function checkReview(pull: Pull, user: User, { state, body, comments }: NewReview): void {
  const own = user.id === pull.issue.user.id
  if (own && (state === 'APPROVED' || state === 'CHANGES_REQUESTED')) {
    const what = state === 'APPROVED' ? 'approve' : 'request changes on'
    throw new HttpError(422, 'Unprocessable Entity', [`Can not ${what} your own pull request`])
  }
  if (body === '' && state === 'CHANGES_REQUESTED') {
    throw new HttpError(422, 'Unprocessable Entity', ['Body can not be blank'])
  }
  if (body === '' && state === 'COMMENTED' && comments.length === 0) {
    throw new HttpError(422, 'Unprocessable Entity', ['Body can not be blank'])
  }
  checkText('PullRequestReview', 'body', body)
  for (const comment of comments) checkText('PullRequestReviewComment', 'body', comment.body)
}

/** Where the diff of the pull request shows the lines, or what GitHub says when it does not. */
function placeOf(repository: Repository, pull: Pull, wanted: NewReviewComment): PatchPlace | string {
  const change = changesOf(repository, pull).find(each => each.path === wanted.path)
  if (!change) return 'Path could not be resolved'
  const side = wanted.side ?? 'RIGHT'
  const place = change.patch === undefined ? undefined : placeInPatch(change.patch, side, wanted.line)
  if (!place) return 'Line could not be resolved'
  if (wanted.startLine === undefined) return place
  const start = placeInPatch(change.patch!, side, wanted.startLine)
  if (!start || wanted.startLine >= wanted.line) return 'Start line must precede the end line'
  return start.hunk === place.hunk ? place : 'Start line must be part of the same hunk as the line.'
}
