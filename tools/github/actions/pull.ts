import { pullPayload } from '../events/payloads.ts'
import { isAncestor } from '../git/graph.ts'
import { HttpError, invalid } from '../http/http-error.ts'
import { type App, type Issue, now, type Pull, type Repository, type User, type World } from '../world.ts'
import { recordEvent } from './issue-event.ts'
import { scheduleMergeability } from './mergeability.ts'
import { mustBeWritable } from './repository.ts'

interface NewPull {
  readonly title: string
  readonly body: string | null
  readonly head: { readonly repository: Repository; readonly ref: string }
  readonly base: string
  readonly draft: boolean
}

/** GitHub's limit on the text of issues, pull requests and comments. */
const MOST_TEXT = 65_536

/** Throws 422 where a text is longer than GitHub takes. */
export function checkText(resource: string, field: string, value: string | null | undefined): void {
  if (value && value.length > MOST_TEXT) {
    throw invalid(resource, field, `${field} is too long (maximum is ${MOST_TEXT} characters)`)
  }
}

/** Opens an issue, the number of which a pull request may then take. */
export function openIssue(
  world: World,
  repository: Repository,
  by: User,
  app: App | undefined,
  title: string,
  body: string | null,
) {
  mustBeWritable(repository)
  checkText('Issue', 'body', body)
  const number = ++repository.lastNumber
  const at = now()
  const issue: Issue = {
    ...{ id: world.nextId(), number, user: by, app, title, body, state: 'open', labels: [] },
    stateReason: null,
    ...{ createdAt: at, updatedAt: at, closedAt: null, reactions: [], events: [] },
  }
  repository.issues.set(number, issue)
  return issue
}

/** Opens a pull request. Throws 422 as GitHub does: unknown branches, nothing to merge, one is open already. */
export function openPull(world: World, repository: Repository, by: User, app: App | undefined, wanted: NewPull): Pull {
  const { head } = wanted
  const headSha = head.repository.refs.get(`refs/heads/${head.ref}`)
  const baseSha = repository.refs.get(`refs/heads/${wanted.base}`)
  if (headSha === undefined) throw invalid('PullRequest', 'head')
  if (baseSha === undefined) throw invalid('PullRequest', 'base')
  const label = `${head.repository.owner.login}:${head.ref}`
  if (isAncestor(repository.store, headSha, baseSha)) {
    throw invalid('PullRequest', 'head', `No commits between ${wanted.base} and ${head.ref}`)
  }
  for (const pull of repository.pulls.values()) {
    const same = pull.head.repository === head.repository && pull.head.ref === head.ref && pull.base.ref === wanted.base
    if (same && pull.issue.state === 'open') {
      throw invalid('PullRequest', 'head', `A pull request already exists for ${label}.`)
    }
  }
  const issue = openIssue(world, repository, by, app, wanted.title, wanted.body)
  const pull: Pull = {
    id: world.nextId(),
    issue,
    head: { ...head, sha: headSha },
    base: { ref: wanted.base, sha: baseSha },
    ...{ draft: wanted.draft, pushedBy: by },
    ...{ mergeable: null, mergeCommit: null, merged: undefined, reviews: [] },
  }
  repository.pulls.set(issue.number, pull)
  repository.refs.set(`refs/pull/${issue.number}/head`, headSha)
  scheduleMergeability(world, repository, pull)
  world.emit(repository, by, 'pull_request', pullPayload(world, repository, 'opened', pull))
  return pull
}

/** Reopens a pull request whose branches still are. Throws 422. */
export function reopenPull(world: World, repository: Repository, pull: Pull, by: User): void {
  const head = pull.head.repository.refs.get(`refs/heads/${pull.head.ref}`)
  const base = repository.refs.get(`refs/heads/${pull.base.ref}`)
  if (pull.merged) throw new HttpError(422, 'Validation Failed')
  if (head === undefined || base === undefined) throw invalid('PullRequest', 'state', 'The branch has been deleted.')
  pull.head.sha = head
  pull.base.sha = base
  repository.refs.set(`refs/pull/${pull.issue.number}/head`, head)
  pull.issue.state = 'open'
  pull.issue.closedAt = null
  recordEvent(world, pull.issue, 'reopened', by)
  scheduleMergeability(world, repository, pull)
  world.emit(repository, by, 'pull_request', pullPayload(world, repository, 'reopened', pull))
}
