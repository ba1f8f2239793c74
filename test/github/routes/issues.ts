import { addComment, react } from '../actions/comment.ts'
import { checkText, openIssue } from '../actions/pull.ts'
import { commentPayload } from '../events/payloads.ts'
import { requiredText, text, texts } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { commentJson, issueJson, reactionJson } from '../json/issue.ts'
import { appOf, atLeast, type Comment, type Issue, now, roleOf, senderOf } from '../world.ts'

const READ = 'issues:read|pull_requests:read'
const WRITE = 'issues:write|pull_requests:write'

/** issues, their comments and reactions. Comments of pull requests may be written with either permission. */
export function issueRoutes(): Route[] {
  return [
    onRepository('GET', '/issues', READ, 'read', listIssues),
    onRepository('POST', '/issues', 'issues:write', 'read', createIssue),
    onRepository('GET', '/issues/{issue_number}', READ, 'read', call =>
      ok(issueJson(call.world, call.repo, issueOf(call))),
    ),
    onRepository('PATCH', '/issues/{issue_number}', WRITE, 'triage', updateIssue),
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
    onRepository('PATCH', '/issues/comments/{comment_id}', WRITE, 'read', updateComment),
    onRepository('DELETE', '/issues/comments/{comment_id}', WRITE, 'read', call => {
      const comment = ownComment(call)
      call.repo.comments.delete(comment.id)
      call.world.emit(
        call.repo,
        senderOf(call.actor),
        'issue_comment',
        commentPayload(call.world, call.repo, 'deleted', comment),
      )
      return noContent()
    }),
    ...reactionsOn('/issues/comments/{comment_id}/reactions', commentOf),
    ...reactionsOn('/issues/{issue_number}/reactions', issueOf),
  ]
}

function reactionsOn(path: string, subject: (call: RepositoryCall) => Comment | Issue): Route[] {
  return [
    onRepository('GET', path, READ, 'read', call => {
      const content = call.query.get('content')
      const found = subject(call).reactions.filter(reaction => !content || reaction.content === content)
      return list(call, found, reaction => reactionJson(call.world, reaction))
    }),
    onRepository('POST', path, WRITE, 'read', call => {
      const { reaction, isNew } = react(
        call.world,
        subject(call),
        senderOf(call.actor),
        requiredText(call.body, 'content'),
      )
      const json = reactionJson(call.world, reaction)
      return isNew ? created(json) : ok(json)
    }),
  ]
}

function issueOf(call: RepositoryCall): Issue {
  const issue = call.repo.issues.get(Number(call.params.issue_number))
  if (!issue) throw notFound()
  return issue
}

function commentOf(call: RepositoryCall): Comment {
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

function updateComment(call: RepositoryCall) {
  const comment = ownComment(call)
  const body = requiredText(call.body, 'body')
  checkText('IssueComment', 'body', body)
  const changes = { body: { from: comment.body } }
  comment.body = body
  comment.updatedAt = now()
  const payload = { ...commentPayload(call.world, call.repo, 'edited', comment), changes }
  call.world.emit(call.repo, senderOf(call.actor), 'issue_comment', payload)
  return ok(commentJson(call.world, call.repo, comment))
}

function listIssues(call: RepositoryCall) {
  const state = call.query.get('state') ?? 'open'
  const creator = call.query.get('creator')
  const labels = (call.query.get('labels') ?? '').split(',').filter(Boolean)
  const found = [...call.repo.issues.values()].filter(issue => {
    const fits = (state === 'all' || issue.state === state) && (!creator || issue.user.login === creator)
    return fits && labels.every(label => issue.labels.includes(label))
  })
  return list(call, found.reverse(), issue => issueJson(call.world, call.repo, issue))
}

function createIssue(call: RepositoryCall) {
  const { world, repo, body } = call
  const by = senderOf(call.actor)
  const issue = openIssue(world, repo, by, appOf(call.actor), String(body.title), text(body, 'body') ?? null)
  issue.labels.push(...(texts(body, 'labels') ?? []))
  world.emit(repo, by, 'issues', { action: 'opened', issue: issueJson(world, repo, issue) })
  return created(issueJson(world, repo, issue))
}

function updateIssue(call: RepositoryCall) {
  const { world, repo, body } = call
  const issue = issueOf(call)
  if (repo.pulls.has(issue.number) && body.state)
    throw new HttpError(422, 'Change the state of a pull request by its own route.')
  checkText('Issue', 'body', text(body, 'body'))
  if (body.title !== undefined) issue.title = String(body.title)
  issue.body = text(body, 'body') ?? issue.body
  const labels = texts(body, 'labels')
  if (labels) issue.labels.splice(0, issue.labels.length, ...labels)
  const state = text(body, 'state')
  issue.updatedAt = now()
  if ((state === 'open' || state === 'closed') && state !== issue.state) {
    issue.state = state
    issue.closedAt = state === 'closed' ? now() : null
    const action = state === 'closed' ? 'closed' : 'reopened'
    world.emit(repo, senderOf(call.actor), 'issues', { action, issue: issueJson(world, repo, issue) })
  }
  return ok(issueJson(world, repo, issue))
}
