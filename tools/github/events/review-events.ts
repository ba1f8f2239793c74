import { pullSimpleJson } from '../json/pull.ts'
import { reviewCommentJson, reviewJson } from '../json/review.ts'
import type { Pull, Repository, Review, ReviewComment, User, World } from '../world.ts'

/** Says what happened to a review; its state is in small letters here, unlike in the API. */
export function announceReview(
  world: World,
  repository: Repository,
  pull: Pull,
  action: 'submitted' | 'dismissed' | 'edited',
  review: Review,
  by: User,
): void {
  const json = reviewJson(world, repository, pull, review)
  const payload = {
    ...{ action, review: { ...json, state: review.state.toLowerCase(), updated_at: review.at } },
    pull_request: pullSimpleJson(world, repository, pull),
  }
  world.emit(repository, by, 'pull_request_review', payload)
}

/** Says what happened to a comment on a line. */
export function announceReviewComment(
  world: World,
  repository: Repository,
  pull: Pull,
  action: 'created' | 'deleted' | 'edited',
  { review, comment }: { review: Review; comment: ReviewComment },
  by: User,
  more = {},
): void {
  const json = reviewCommentJson(world, repository, pull, { review, comment })
  const payload = { action, comment: json, pull_request: pullSimpleJson(world, repository, pull), ...more }
  world.emit(repository, by, 'pull_request_review_comment', payload)
}

/** Says that a thread was resolved, or is open again. */
export function announceThread(
  world: World,
  repository: Repository,
  pull: Pull,
  action: 'resolved' | 'unresolved',
  first: ReviewComment,
  by: User,
): void {
  const comments = pull.reviews.flatMap(review =>
    review.comments
      .filter(comment => comment === first || comment.inReplyTo === first.id)
      .map(comment => reviewCommentJson(world, repository, pull, { review, comment })),
  )
  const thread = { node_id: comments[0]?.node_id ?? '', comments }
  const payload = { action, thread, pull_request: pullSimpleJson(world, repository, pull) }
  world.emit(repository, by, 'pull_request_review_thread', payload)
}
