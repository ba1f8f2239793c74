import { type NewReviewComment, replyTo, writeReviewComment } from '../actions/review.ts'
import { announceReviewComment } from '../events/review-events.ts'
import { requiredText, text } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { type InReview, reviewCommentJson } from '../json/review.ts'
import { appOf, now, type Pull, senderOf } from '../world.ts'
import { pullOf } from './pulls.ts'
import { visible } from './reviews.ts'

const COMMENT = '/pulls/comments/{comment_id}'

/** pulls/{n}/comments and pulls/comments: what stands on the lines of a diff. */
export function reviewCommentRoutes(): Route[] {
  return [
    onRepository('GET', '/pulls/{pull_number}/comments', 'pull_requests:read', 'read', call => {
      const pull = pullOf(call)
      const since = Date.parse(call.query.get('since') ?? '1970-01-01')
      const all = commentsOf(call, pull).filter(({ comment }) => Date.parse(comment.updatedAt) >= since)
      const shown = call.query.get('direction') === 'desc' ? all.reverse() : all
      return list(call, shown, each => reviewCommentJson(call.world, call.repo, pull, each))
    }),
    onRepository('POST', '/pulls/{pull_number}/comments', 'pull_requests:write', 'read', create),
    onRepository('POST', '/pulls/{pull_number}/comments/{comment_id}/replies', 'pull_requests:write', 'read', reply),
    onRepository('GET', COMMENT, 'pull_requests:read', 'read', call => {
      const { pull, found } = named(call)
      return ok(reviewCommentJson(call.world, call.repo, pull, found))
    }),
    onRepository('PATCH', COMMENT, 'pull_requests:write', 'read', call => {
      const { pull, found } = own(call)
      const changes = { body: { from: found.comment.body } }
      found.comment.body = requiredText(call.body, 'body')
      found.comment.updatedAt = now()
      announceReviewComment(call.world, call.repo, pull, 'edited', found, senderOf(call.actor), { changes })
      return ok(reviewCommentJson(call.world, call.repo, pull, found))
    }),
    onRepository('DELETE', COMMENT, 'pull_requests:write', 'read', call => {
      const { pull, found } = own(call)
      const { comments } = found.review
      comments.splice(comments.indexOf(found.comment), 1)
      announceReviewComment(call.world, call.repo, pull, 'deleted', found, senderOf(call.actor))
      return noContent()
    }),
  ]
}

/** What a body says of a comment on a line. Throws 422 where it names none. */
export function wantedComment(raw: Readonly<Record<string, unknown>>): NewReviewComment {
  const line = Number(raw.line)
  if (!Number.isInteger(line)) throw new HttpError(422, 'Unprocessable Entity', ['Line could not be resolved'])
  return {
    ...{ path: requiredText(raw, 'path'), line, body: requiredText(raw, 'body') },
    side: text(raw, 'side') === 'LEFT' ? 'LEFT' : 'RIGHT',
    startLine: typeof raw.start_line === 'number' ? raw.start_line : undefined,
  }
}

function create(call: RepositoryCall) {
  const pull = pullOf(call)
  const by = { user: senderOf(call.actor), app: appOf(call.actor) }
  const commit = requiredText(call.body, 'commit_id')
  if (!call.repo.store.commit(commit)) throw new HttpError(422, 'Validation Failed', ['No commit found for SHA'])
  const found = writeReviewComment(call.world, call.repo, pull, by, { ...wantedComment(call.body), commit })
  return created(reviewCommentJson(call.world, call.repo, pull, found))
}

function reply(call: RepositoryCall) {
  const pull = pullOf(call)
  const first = commentsOf(call, pull).find(({ comment }) => String(comment.id) === call.params.comment_id)
  if (!first) throw notFound()
  const by = { user: senderOf(call.actor), app: appOf(call.actor) }
  const found = replyTo(call.world, call.repo, pull, by, first.comment, requiredText(call.body, 'body'))
  return created(reviewCommentJson(call.world, call.repo, pull, found))
}

function commentsOf(call: RepositoryCall, pull: Pull): InReview[] {
  return visible(pull, call.actor)
    .filter(review => review.state !== 'PENDING')
    .flatMap(review => review.comments.map(comment => ({ review, comment })))
}

function named(call: RepositoryCall): { pull: Pull; found: InReview } {
  for (const pull of call.repo.pulls.values()) {
    const found = commentsOf(call, pull).find(({ comment }) => String(comment.id) === call.params.comment_id)
    if (found) return { pull, found }
  }
  throw notFound()
}

function own(call: RepositoryCall) {
  const { pull, found } = named(call)
  if (found.comment.user !== senderOf(call.actor)) throw new HttpError(403, 'Resource not accessible by integration')
  return { pull, found }
}
