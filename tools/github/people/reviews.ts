import { pullNumbered } from '../actions/merge-pull.ts'
import { dismissReview, type NewReview, type NewReviewComment, replyTo, writeReview } from '../actions/review.ts'
import { announceThread } from '../events/review-events.ts'
import type { Pull, Review, ReviewComment, World } from '../world.ts'
import { type Directory, type OnPull, personWith } from './directory.ts'

/** What people do with reviews. Everybody who reads may review; dismissing needs write. */
export function onReviews(world: World, { userNamed, repositoryNamed }: Directory) {
  function found(wanted: OnPull) {
    const repository = repositoryNamed(wanted.repo)
    return { repository, pull: pullNumbered(repository, wanted.pull), user: userNamed(wanted.as) }
  }

  /** Submits a review, an approval unless `state` says otherwise. Throws 422 for one's own pull request. */
  function review(
    wanted: OnPull & {
      state?: Exclude<NewReview['state'], 'PENDING'>
      body?: string
      comments?: readonly NewReviewComment[]
    },
  ): Review {
    const { repository, pull, user } = found(wanted)
    personWith(world, repository, user, 'read')
    const { state = 'APPROVED', body = '', comments = [] } = wanted
    return writeReview(world, repository, pull, { user, app: undefined }, { state, body, comments })
  }

  function dismiss(wanted: OnPull & { review: number }): void {
    const { repository, pull, user } = found(wanted)
    const known = pull.reviews.find(each => each.id === wanted.review)
    if (!known) throw new Error(`${wanted.repo}#${wanted.pull} has no review ${wanted.review}`)
    dismissReview(world, repository, pull, known, personWith(world, repository, user, 'write'))
  }

  /** Answers in the thread of a comment on a line. */
  function replyToReview(wanted: OnPull & { comment: number; body: string }): ReviewComment {
    const { repository, pull, user } = found(wanted)
    personWith(world, repository, user, 'read')
    const by = { user, app: undefined }
    return replyTo(world, repository, pull, by, commentNumbered(pull, wanted.comment), wanted.body).comment
  }

  /** Presses "Resolve conversation" (or the contrary) at the thread that a comment began. */
  function resolveThread(wanted: OnPull & { comment: number; resolved?: boolean }): void {
    const { repository, pull, user } = found(wanted)
    if (pull.issue.user !== user) personWith(world, repository, user, 'write')
    const first = commentNumbered(pull, wanted.comment)
    first.isResolved = wanted.resolved ?? true
    announceThread(world, repository, pull, first.isResolved ? 'resolved' : 'unresolved', first, user)
  }

  return { review, dismissReview: dismiss, replyToReview, resolveThread }
}

function commentNumbered(pull: Pull, id: number): ReviewComment {
  const found = pull.reviews.flatMap(each => each.comments).find(each => each.id === id)
  if (!found) throw new Error(`#${pull.issue.number} has no review comment ${id}`)
  return found
}
