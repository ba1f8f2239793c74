import { editIssue, setIssueState } from '../actions/issue.ts'
import { addLabels, setLabels } from '../actions/label.ts'
import { openIssue } from '../actions/pull.ts'
import { issueChanged } from '../events/issue-changed.ts'
import { namesIn, text } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { issueJson } from '../json/issue.ts'
import { appOf, atLeast, type Issue, type Role, roleOf, senderOf } from '../world.ts'

const READ = 'issues:read|pull_requests:read'
const WRITE = 'issues:write|pull_requests:write'

/** issues: list, open, read, change. */
export function issueRoutes(): Route[] {
  return [
    onRepository('GET', '/issues', READ, 'read', listIssues),
    onRepository('POST', '/issues', 'issues:write', 'read', createIssue),
    onRepository('GET', '/issues/{issue_number}', READ, 'read', call =>
      ok(issueJson(call.world, call.repo, issueOf(call))),
    ),
    onRepository('PATCH', '/issues/{issue_number}', WRITE, 'read', updateIssue),
  ]
}

/** The issue or pull request that a path names. Throws 404. */
export function issueOf(call: RepositoryCall): Issue {
  const issue = call.repo.issues.get(Number(call.params.issue_number))
  if (!issue) throw notFound()
  return issue
}

/** Whether the caller has at least a role; an app with the permission for the call counts as one that has. */
export function isAtLeast(call: RepositoryCall, role: Role): boolean {
  return call.actor.kind !== 'user' || atLeast(roleOf(call.world, call.repo, call.actor.user), role)
}

/** Throws 403 unless the caller wrote the issue or pull request or has the role: authors may edit and close their own. */
export function mayEdit(call: RepositoryCall, issue: Issue, role: Role): void {
  if (isAtLeast(call, role) || issue.user === senderOf(call.actor)) return
  throw new HttpError(403, 'Must have admin rights to Repository.')
}

function listIssues(call: RepositoryCall) {
  const state = call.query.get('state') ?? 'open'
  const creator = call.query.get('creator')
  const labels = (call.query.get('labels') ?? '').toLowerCase().split(',').filter(Boolean)
  const since = call.query.get('since')
  const sort = call.query.get('sort') ?? 'created'
  if (sort === 'comments') throw new HttpError(501, 'This server does not sort by comments')
  const found = [...call.repo.issues.values()].filter(issue => {
    const fits = (state === 'all' || issue.state === state) && (!creator || issue.user.login === creator)
    const late = !since || Date.parse(issue.updatedAt) >= Date.parse(since)
    const has = new Set(issue.labels.map(label => label.toLowerCase()))
    return fits && late && labels.every(label => has.has(label))
  })
  if (sort === 'updated') found.sort((a, b) => a.updatedAt.localeCompare(b.updatedAt))
  const shown = call.query.get('direction') === 'asc' ? found : found.reverse()
  return list(call, shown, issue => issueJson(call.world, call.repo, issue))
}

function createIssue(call: RepositoryCall) {
  const { world, repo, body } = call
  const by = senderOf(call.actor)
  const issue = openIssue(world, repo, by, appOf(call.actor), String(body.title), text(body, 'body') ?? null)
  issueChanged(world, repo, issue, 'opened', by)
  // who may not set labels has them dropped without a word (docs, "Create an issue")
  if (isAtLeast(call, 'triage')) addLabels(world, repo, issue, namesIn(body, 'labels'), by)
  return created(issueJson(world, repo, issue))
}

function updateIssue(call: RepositoryCall) {
  const { world, repo, body } = call
  const issue = issueOf(call)
  const by = senderOf(call.actor)
  mayEdit(call, issue, 'triage')
  const title = body.title === undefined || body.title === null ? undefined : String(body.title)
  editIssue(world, repo, issue, { title, body: body.body === null ? null : text(body, 'body') }, by)
  if (Array.isArray(body.labels) && isAtLeast(call, 'triage')) {
    setLabels(world, repo, issue, namesIn(body, 'labels'), by)
  }
  const state = text(body, 'state')
  if (state === 'open' || state === 'closed') {
    setIssueState(world, repo, issue, state, by, (text(body, 'state_reason') ?? 'completed') as Issue['stateReason'])
  }
  return ok(issueJson(world, repo, issue))
}
