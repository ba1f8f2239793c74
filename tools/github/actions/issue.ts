import { issueChanged } from '../events/issue-changed.ts'
import { type Issue, now, type Repository, type User, type World } from '../world.ts'
import { recordEvent } from './issue-event.ts'
import { closePull } from './move-ref.ts'
import { checkText, reopenPull } from './pull.ts'

export interface NewText {
  readonly title?: string | undefined
  /** null empties it. */
  readonly body?: string | null | undefined
}

/** Changes title and body and returns what an `edited` event says of it. Throws 422 for a text that is too long. */
export function changeText(issue: Issue, { title, body }: NewText): Record<string, { readonly from: string }> {
  checkText('Issue', 'body', body)
  const changes: Record<string, { readonly from: string }> = {}
  if (title !== undefined && title !== issue.title) changes.title = { from: issue.title }
  if (body !== undefined && body !== issue.body) changes.body = { from: issue.body ?? '' }
  issue.title = title ?? issue.title
  if (body !== undefined) issue.body = body
  return changes
}

/** Edits an issue or pull request; says so once, and only when something changed. */
export function editIssue(world: World, repository: Repository, issue: Issue, text: NewText, by: User): void {
  const changes = changeText(issue, text)
  if (Object.keys(changes).length === 0) return
  issue.updatedAt = now()
  if (changes.title) recordEvent(world, issue, 'renamed', by)
  issueChanged(world, repository, issue, 'edited', by, { changes })
}

/** Closes or reopens an issue, or the pull request that it is. Throws 422 for a pull request that cannot be reopened. */
export function setIssueState(
  world: World,
  repository: Repository,
  issue: Issue,
  state: Issue['state'],
  by: User,
  reason: Issue['stateReason'] = 'completed',
): void {
  if (state === issue.state) return
  const pull = repository.pulls.get(issue.number)
  if (pull) {
    if (state === 'closed') closePull(world, repository, pull, by)
    else reopenPull(world, repository, pull, by)
    return
  }
  issue.state = state
  issue.stateReason = state === 'closed' ? reason : 'reopened'
  issue.closedAt = state === 'closed' ? now() : null
  issue.updatedAt = now()
  recordEvent(world, issue, state === 'closed' ? 'closed' : 'reopened', by)
  issueChanged(world, repository, issue, state === 'closed' ? 'closed' : 'reopened', by)
}
