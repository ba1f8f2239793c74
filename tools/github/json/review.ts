import { matchLines, splitLines } from '../git/line-matches.ts'
import { placeInPatch } from '../git/patch-lines.ts'
import { entryAt } from '../git/trees.ts'
import { fullName, type Pull, type Repository, type Review, type ReviewComment, type World } from '../world.ts'
import { rollup } from './issue.ts'
import { nodeId } from './node-id.ts'
import { associationOf, changesOf } from './pull.ts'
import { userJson } from './user.ts'

/** OpenAPI `pull-request-review`. */
export function reviewJson(world: World, repository: Repository, pull: Pull, review: Review) {
  const url = `${world.url}/repos/${fullName(repository)}/pulls/${pull.issue.number}`
  const html = `https://github.com/${fullName(repository)}/pull/${pull.issue.number}#pullrequestreview-${review.id}`
  return {
    id: review.id,
    node_id: nodeId('PRR', review.id),
    user: userJson(world, review.user),
    body: review.body,
    state: review.state as string,
    html_url: html,
    pull_request_url: url,
    ...(review.at === null ? {} : { submitted_at: review.at }),
    commit_id: review.commit,
    author_association: associationOf(world, repository, review.user),
    _links: { html: { href: html }, pull_request: { href: url } },
  }
}

export interface InReview {
  readonly review: Review
  readonly comment: ReviewComment
}

/** OpenAPI `pull-request-review-comment`. Where its line is no longer in the diff, `line` and `position` are null. */
export function reviewCommentJson(world: World, repository: Repository, pull: Pull, { review, comment }: InReview) {
  const api = `${world.url}/repos/${fullName(repository)}/pulls`
  const [url, pullUrl] = [`${api}/comments/${comment.id}`, `${api}/${pull.issue.number}`]
  const html = `https://github.com/${fullName(repository)}/pull/${pull.issue.number}#discussion_r${comment.id}`
  const [line, start] = [lineNow(repository, pull, comment, comment.line), comment.startLine]
  return {
    url,
    pull_request_review_id: review.id,
    id: comment.id,
    node_id: nodeId('PRRC', comment.id),
    diff_hunk: comment.hunk,
    path: comment.path,
    commit_id: line === null ? comment.commit : pull.head.sha,
    original_commit_id: comment.commit,
    user: userJson(world, comment.user),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    html_url: html,
    pull_request_url: pullUrl,
    author_association: associationOf(world, repository, comment.user),
    _links: { self: { href: url }, html: { href: html }, pull_request: { href: pullUrl } },
    reactions: rollup(`${url}/reactions`, []),
    start_line: start === undefined ? null : lineNow(repository, pull, comment, start),
    original_start_line: start ?? null,
    start_side: start === undefined ? null : comment.side,
    line,
    original_line: comment.line,
    side: comment.side,
    ...(comment.inReplyTo === undefined ? {} : { in_reply_to_id: comment.inReplyTo }),
    original_position: comment.hunk.split('\n').length - 1,
    position: line === null ? null : positionOf(repository, pull, comment, line),
    subject_type: 'line',
  }
}

/** The line in the present head (or base, for the side LEFT); null when that line was changed since: "outdated". */
function lineNow(repository: Repository, pull: Pull, comment: ReviewComment, line: number): number | null {
  if (comment.side === 'LEFT' || comment.commit === pull.head.sha) return line
  const textAt = (sha: string) => {
    const commit = repository.store.commit(sha)
    const entry = commit && entryAt(repository.store, commit.tree, comment.path)
    return entry && Buffer.from(repository.store.blob(entry.sha) ?? []).toString()
  }
  const [before, after] = [textAt(comment.commit), textAt(pull.head.sha)]
  if (before === undefined || after === undefined) return null
  for (const [old, young] of matchLines(splitLines(before), splitLines(after))) if (old === line - 1) return young + 1
  return null
}

function positionOf(repository: Repository, pull: Pull, comment: ReviewComment, line: number): number | null {
  const patch = changesOf(repository, pull).find(each => each.path === comment.path)?.patch
  return patch === undefined ? null : (placeInPatch(patch, comment.side, line)?.position ?? null)
}
