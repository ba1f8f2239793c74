import { dismissReview, type NewReview, submitReview, writeReview } from '../actions/review.ts'
import { objects, requiredText, text } from '../http/body.ts'
import { HttpError, invalid, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { reviewCommentJson, reviewJson } from '../json/review.ts'
import { type Actor, appOf, type Pull, type Review, senderOf } from '../world.ts'
import { isAtLeast } from './issues.ts'
import { pullOf } from './pulls.ts'
import { wantedComment } from './review-comments.ts'

const STATES = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const
const REVIEWS = '/pulls/{pull_number}/reviews'
const REVIEW = `${REVIEWS}/{review_id}`

/** pulls/{n}/reviews. */
export function reviewRoutes(): Route[] {
  return [
    onRepository('GET', REVIEWS, 'pull_requests:read', 'read', call =>
      list(call, visible(pullOf(call), call.actor), review => present(call, review)),
    ),
    onRepository('POST', REVIEWS, 'pull_requests:write', 'read', create),
    onRepository('GET', REVIEW, 'pull_requests:read', 'read', call => ok(present(call, reviewNamed(call)))),
    onRepository('PUT', REVIEW, 'pull_requests:write', 'read', call => {
      const review = own(call)
      review.body = requiredText(call.body, 'body')
      return ok(present(call, review))
    }),
    onRepository('DELETE', REVIEW, 'pull_requests:write', 'read', call => {
      const review = own(call)
      if (review.state !== 'PENDING') throw new HttpError(422, 'Can not delete a non-pending pull request review')
      const { reviews } = pullOf(call)
      reviews.splice(reviews.indexOf(review), 1)
      return ok(present(call, review))
    }),
    onRepository('POST', `${REVIEW}/events`, 'pull_requests:write', 'read', call => {
      const review = own(call)
      const state = STATES[text(call.body, 'event') as keyof typeof STATES]
      if (!state) throw invalid('PullRequestReview', 'event')
      submitReview(call.world, call.repo, pullOf(call), review, { state, body: text(call.body, 'body') })
      return ok(present(call, review))
    }),
    onRepository('PUT', `${REVIEW}/dismissals`, 'pull_requests:write', 'write', call => {
      requiredText(call.body, 'message')
      const review = reviewNamed(call)
      const bound = call.repo.protection.has(pullOf(call).base.ref)
      if (bound && !isAtLeast(call, 'admin')) throw new HttpError(403, 'Must have admin rights to Repository.')
      dismissReview(call.world, call.repo, pullOf(call), review, senderOf(call.actor))
      return ok(present(call, review))
    }),
    onRepository('GET', `${REVIEW}/comments`, 'pull_requests:read', 'read', call => {
      const [pull, review] = [pullOf(call), reviewNamed(call)]
      // here the answer has no `line`: GitHub's older form of a comment (OpenAPI, review-comment)
      return list(call, review.comments, comment => reviewCommentJson(call.world, call.repo, pull, { review, comment }))
    }),
  ]
}

/** A pending review is seen by who writes it only. */
export function visible(pull: Pull, actor: Actor): Review[] {
  const reader = actor.kind === 'user' || actor.kind === 'installation' ? senderOf(actor) : undefined
  return pull.reviews.filter(review => review.state !== 'PENDING' || review.user === reader)
}

function create(call: RepositoryCall) {
  const pull = pullOf(call)
  const event = text(call.body, 'event')
  const state = event === undefined ? 'PENDING' : STATES[event as keyof typeof STATES]
  if (!state) throw invalid('PullRequestReview', 'event')
  const user = senderOf(call.actor)
  if (pull.reviews.some(review => review.state === 'PENDING' && review.user === user)) {
    throw new HttpError(422, 'Unprocessable Entity', ['User can only have one pending review per pull request'])
  }
  const comments = objects(call.body, 'comments').map(raw => wantedComment(raw))
  const wanted: NewReview = {
    state,
    body: text(call.body, 'body') ?? '',
    commit: text(call.body, 'commit_id'),
    comments,
  }
  return ok(present(call, writeReview(call.world, call.repo, pull, { user, app: appOf(call.actor) }, wanted)))
}

const present = (call: RepositoryCall, review: Review) => reviewJson(call.world, call.repo, pullOf(call), review)

function reviewNamed(call: RepositoryCall): Review {
  const found = visible(pullOf(call), call.actor).find(review => String(review.id) === call.params.review_id)
  if (!found) throw notFound()
  return found
}

function own(call: RepositoryCall): Review {
  const review = reviewNamed(call)
  if (review.user !== senderOf(call.actor)) throw new HttpError(403, 'Resource not accessible by integration')
  return review
}
