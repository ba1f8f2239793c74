import { addComment, deleteComment, editComment } from '../actions/comment.ts'
import { requiredText } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { commentJson } from '../json/issue.ts'
import { appOf, atLeast, type Comment, roleOf, senderOf } from '../world.ts'
import { issueOf } from './issues.ts'

const READ = 'issues:read|pull_requests:read'
const WRITE = 'issues:write|pull_requests:write'

/** Comments of issues; those of pull requests may be written with either permission. */
export function commentRoutes(): Route[] {
  return [
    onRepository('GET', '/issues/{issue_number}/comments', READ, 'read', call => {
      const { number } = issueOf(call)
      const since = Date.parse(call.query.get('since') ?? '1970-01-01')
      const comments = [...call.repo.comments.values()].filter(
        comment => comment.issue === number && Date.parse(comment.updatedAt) >= since,
      )
      return list(call, comments, comment => commentJson(call.world, call.repo, comment))
    }),
    onRepository('POST', '/issues/{issue_number}/comments', WRITE, 'read', call => {
      const { number } = issueOf(call)
      const body = requiredText(call.body, 'body')
      const comment = addComment(call.world, call.repo, number, senderOf(call.actor), appOf(call.actor), body)
      return created(commentJson(call.world, call.repo, comment))
    }),
    onRepository('GET', '/issues/comments/{comment_id}', READ, 'read', call =>
      ok(commentJson(call.world, call.repo, commentOf(call))),
    ),
    onRepository('PATCH', '/issues/comments/{comment_id}', WRITE, 'read', call => {
      const comment = ownComment(call)
      editComment(call.world, call.repo, comment, requiredText(call.body, 'body'), senderOf(call.actor))
      return ok(commentJson(call.world, call.repo, comment))
    }),
    onRepository('DELETE', '/issues/comments/{comment_id}', WRITE, 'read', call => {
      deleteComment(call.world, call.repo, ownComment(call), senderOf(call.actor))
      return noContent()
    }),
  ]
}

/** The comment that a path names. Throws 404. */
export function commentOf(call: RepositoryCall): Comment {
  const comment = call.repo.comments.get(Number(call.params.comment_id))
  if (!comment) throw notFound()
  return comment
}

/** A comment is changed by its author or by who may write to the repository; an app changes only its own. */
function ownComment(call: RepositoryCall): Comment {
  const comment = commentOf(call)
  const { actor } = call
  const own = comment.user === senderOf(actor)
  const moderates = actor.kind === 'user' && atLeast(roleOf(call.world, call.repo, actor.user), 'write')
  if (!own && !moderates) throw new HttpError(403, 'Resource not accessible by integration')
  return comment
}
