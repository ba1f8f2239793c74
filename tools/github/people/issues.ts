import { addComment, deleteComment, editComment } from '../actions/comment.ts'
import { editIssue, type NewText, setIssueState } from '../actions/issue.ts'
import { addLabels, removeLabel } from '../actions/label.ts'
import { openIssue } from '../actions/pull.ts'
import { issueChanged } from '../events/issue-changed.ts'
import { type App, type Comment, type Issue, roleOf, type User, type World } from '../world.ts'
import { type Directory, issueNumbered, type OnIssue, personWith } from './directory.ts'

interface OnComment {
  readonly repo: string
  readonly comment: number
  readonly as: string
}

/** What people do with issues; all but opening goes for pull requests too. Who may not gets an HttpError. */
export function onIssues(world: World, { userNamed, repositoryNamed }: Directory) {
  /** The author, or who has at least triage. */
  function editor(wanted: OnIssue) {
    const repository = repositoryNamed(wanted.repo)
    const issue = issueNumbered(repository, wanted.issue)
    const user = userNamed(wanted.as)
    return { repository, issue, by: issue.user === user ? user : personWith(world, repository, user, 'triage') }
  }

  function issue(wanted: {
    repo: string
    title: string
    body?: string
    labels?: readonly string[]
    as: string
  }): Issue {
    const repository = repositoryNamed(wanted.repo)
    const by = userNamed(wanted.as)
    const opened = openIssue(world, repository, by, undefined, wanted.title, wanted.body ?? null)
    issueChanged(world, repository, opened, 'opened', by)
    addLabels(world, repository, opened, wanted.labels ?? [], by)
    return opened
  }

  function editIssueText(wanted: OnIssue & NewText): void {
    const { repository, issue, by } = editor(wanted)
    editIssue(world, repository, issue, wanted, by)
  }

  function closeIssue(wanted: OnIssue & { reason?: 'completed' | 'not_planned' }): void {
    const { repository, issue, by } = editor(wanted)
    setIssueState(world, repository, issue, 'closed', by, wanted.reason)
  }

  function reopenIssue(wanted: OnIssue): void {
    const { repository, issue, by } = editor(wanted)
    setIssueState(world, repository, issue, 'open', by)
  }

  /** Puts a label on an issue or pull request; needs triage, as on GitHub. */
  function label(wanted: OnIssue & { label: string }): void {
    const { repository, issue, by } = labeller(wanted)
    addLabels(world, repository, issue, [wanted.label], by)
  }

  function unlabel(wanted: OnIssue & { label: string }): void {
    const { repository, issue, by } = labeller(wanted)
    removeLabel(world, repository, issue, wanted.label, by)
  }

  function labeller(wanted: OnIssue) {
    const repository = repositoryNamed(wanted.repo)
    const by: User = personWith(world, repository, userNamed(wanted.as), 'triage')
    return { repository, issue: issueNumbered(repository, wanted.issue), by }
  }

  /** Writes a comment; `via` is an app in which the person writes it, with a token of their own. */
  function comment(wanted: OnIssue & { body: string; via?: App }): Comment {
    const repository = repositoryNamed(wanted.repo)
    issueNumbered(repository, wanted.issue)
    return addComment(world, repository, wanted.issue, userNamed(wanted.as), wanted.via, wanted.body)
  }

  /** Edits a comment: one's own, or anybody's for who may write to the repository. */
  function editCommentBody(wanted: OnComment & { body: string }): void {
    const { repository, found, by } = commentEditor(wanted)
    editComment(world, repository, found, wanted.body, by)
  }

  function removeComment(wanted: OnComment): void {
    const { repository, found, by } = commentEditor(wanted)
    deleteComment(world, repository, found, by)
  }

  function commentEditor(wanted: OnComment) {
    const repository = repositoryNamed(wanted.repo)
    const found = repository.comments.get(wanted.comment)
    if (!found) throw new Error(`${wanted.repo} has no comment ${wanted.comment}`)
    const user = userNamed(wanted.as)
    return { repository, found, by: found.user === user ? user : personWith(world, repository, user, 'write') }
  }

  return {
    ...{ issue, editIssue: editIssueText, closeIssue, reopenIssue, label, unlabel },
    ...{ comment, editComment: editCommentBody, deleteComment: removeComment },
    /** What `login` may do in a repository. */
    roleOf: (repo: string, login: string) => roleOf(world, repositoryNamed(repo), userNamed(login)),
  }
}
