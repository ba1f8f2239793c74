import { objects, requiredText, text } from '../http/body.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { nodeId } from '../json/node-id.ts'
import { associationOf, changesOf } from '../json/pull.ts'
import { userJson } from '../json/user.ts'
import { fullName, now, type Pull, type Review, type ReviewComment, senderOf } from '../world.ts'
import { pullOf } from './pulls.ts'

const STATES = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const

/** pulls/{n}/reviews and their comments. */
export function reviewRoutes(): Route[] {
  return [
    onRepository('GET', '/pulls/{pull_number}/reviews', 'pull_requests:read', 'read', call =>
      list(call, pullOf(call).reviews, review => reviewJson(call, pullOf(call), review)),
    ),
    onRepository('POST', '/pulls/{pull_number}/reviews', 'pull_requests:write', 'read', create),
    onRepository('GET', '/pulls/{pull_number}/comments', 'pull_requests:read', 'read', call => {
      const pull = pullOf(call)
      const all = pull.reviews.flatMap(review => review.comments.map(comment => ({ review, comment })))
      return list(call, all, ({ review, comment }) => reviewCommentJson(call, pull, review, comment))
    }),
  ]
}

function create(call: RepositoryCall) {
  const pull = pullOf(call)
  const by = senderOf(call.actor)
  const event = text(call.body, 'event')
  const state = event === undefined ? 'PENDING' : STATES[event as keyof typeof STATES]
  if (!state) throw invalid('PullRequestReview', 'event')
  if (by.id === pull.issue.user.id && state !== 'COMMENTED' && state !== 'PENDING') {
    throw new HttpError(422, `Can not ${state === 'APPROVED' ? 'approve' : 'request changes on'} your own pull request`)
  }
  const changed = new Set(changesOf(call.repo, pull).map(change => change.path))
  const comments = objects(call.body, 'comments').map((raw): ReviewComment => {
    const path = requiredText(raw, 'path')
    const line = Number(raw.line)
    if (!changed.has(path)) throw new HttpError(422, 'Unprocessable Entity: Path could not be resolved')
    if (!Number.isInteger(line)) throw new HttpError(422, 'Unprocessable Entity: Line could not be resolved')
    const startLine = typeof raw.start_line === 'number' ? raw.start_line : undefined
    return { id: call.world.nextId(), path, line, startLine, body: requiredText(raw, 'body') }
  })
  const review: Review = {
    ...{ id: call.world.nextId(), user: by, body: text(call.body, 'body') ?? '', state, at: now(), comments },
    commit: text(call.body, 'commit_id') ?? pull.head.sha,
  }
  pull.reviews.push(review)
  return ok(reviewJson(call, pull, review))
}

function reviewJson(call: RepositoryCall, pull: Pull, review: Review) {
  const url = `${call.world.url}/repos/${fullName(call.repo)}/pulls/${pull.issue.number}`
  const html = `https://github.com/${fullName(call.repo)}/pull/${pull.issue.number}#pullrequestreview-${review.id}`
  return {
    ...{ id: review.id, node_id: nodeId('PRR', review.id), user: userJson(call.world, review.user), body: review.body },
    ...{
      state: review.state,
      html_url: html,
      pull_request_url: url,
      submitted_at: review.at,
      commit_id: review.commit,
    },
    author_association: associationOf(call.world, call.repo, review.user),
    _links: { html: { href: html }, pull_request: { href: url } },
  }
}

function reviewCommentJson(call: RepositoryCall, pull: Pull, review: Review, comment: ReviewComment) {
  const api = `${call.world.url}/repos/${fullName(call.repo)}/pulls`
  const [url, pullUrl] = [`${api}/comments/${comment.id}`, `${api}/${pull.issue.number}`]
  const html = `https://github.com/${fullName(call.repo)}/pull/${pull.issue.number}#discussion_r${comment.id}`
  return {
    ...{ id: comment.id, node_id: nodeId('PRRC', comment.id), url, html_url: html, pull_request_url: pullUrl },
    ...{ pull_request_review_id: review.id, path: comment.path, line: comment.line, side: 'RIGHT', diff_hunk: '' },
    ...(comment.startLine === undefined ? {} : { start_line: comment.startLine, start_side: 'RIGHT' }),
    ...{ commit_id: pull.head.sha, original_commit_id: review.commit, body: comment.body },
    ...{ created_at: review.at, updated_at: review.at, user: userJson(call.world, review.user) },
    author_association: associationOf(call.world, call.repo, review.user),
    _links: { self: { href: url }, html: { href: html }, pull_request: { href: pullUrl } },
  }
}
