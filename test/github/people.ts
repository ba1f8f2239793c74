import { rerequest } from './actions/check-run.ts'
import { addComment } from './actions/comment.ts'
import { commitFiles } from './actions/commit-files.ts'
import { mergePull, pullNumbered } from './actions/merge-pull.ts'
import { closePull, moveRef } from './actions/move-ref.ts'
import { mayPush } from './actions/protection.ts'
import { openIssue, openPull } from './actions/pull.ts'
import { checkRunPayload, pullPayload } from './events/payloads.ts'
import type { FileContent } from './git/trees.ts'
import { HttpError } from './http/http-error.ts'
import { issueJson } from './json/issue.ts'
import { atLeast, type CheckRun, now, type Pull, type Repository, roleOf, type User, type World } from './world.ts'

export interface Push {
  /** `owner/name` */
  readonly repo: string
  readonly branch?: string
  readonly files?: Readonly<Record<string, FileContent>>
  readonly remove?: readonly string[]
  readonly message?: string
  readonly as: string
  /** Commit to stand on; one that is not the branch's tip makes this a force push. */
  readonly parent?: string
}

export interface MergeOutcome {
  readonly status: number
  readonly message: string
  readonly sha: string | undefined
}

export interface NewPullRequest {
  readonly repo: string
  /** Branch, in `headRepo` when that is given (a fork). */
  readonly head: string
  readonly headRepo?: string
  readonly base?: string
  readonly title?: string
  readonly body?: string
  readonly as: string
  readonly draft?: boolean
}

interface Directory {
  userNamed(login: string): User
  repositoryNamed(name: string): Repository
}

/** What people do on github.com and with git, as plain functions. Who may not do it gets an HttpError with GitHub's words. */
export function people(world: World, { userNamed, repositoryNamed }: Directory) {
  function writer(login: string, repository: Repository): User {
    const user = userNamed(login)
    if (atLeast(roleOf(world, repository, user), 'write')) return user
    throw new HttpError(403, `Permission to ${repository.owner.login}/${repository.name}.git denied to ${login}.`)
  }

  /** Commits and pushes as `git push` does; without files it is an empty commit. Returns the commit. */
  function push(wanted: Push) {
    const repository = repositoryNamed(wanted.repo)
    const by = writer(wanted.as, repository)
    const branch = wanted.branch ?? repository.defaultBranch
    const commit = { ...wanted, branch, by, message: wanted.message ?? 'Change' }
    const allow = (sha: string) => mayPush(world, repository, branch, sha, { kind: 'user', user: by })
    return commitFiles(world, repository, commit, allow)
  }

  /** Pushes a commit that is there already to a branch (a new branch, a reset), or with null deletes the branch. */
  function pushRef(wanted: { repo: string; branch: string; sha: string | null; as: string }): void {
    const repository = repositoryNamed(wanted.repo)
    const by = writer(wanted.as, repository)
    mayPush(world, repository, wanted.branch, wanted.sha ?? undefined, { kind: 'user', user: by })
    moveRef(world, repository, `refs/heads/${wanted.branch}`, wanted.sha ?? undefined, by)
  }

  function openPullRequest(wanted: NewPullRequest): Pull {
    const repository = repositoryNamed(wanted.repo)
    return openPull(world, repository, userNamed(wanted.as), undefined, {
      ...{
        title: wanted.title ?? wanted.head,
        body: wanted.body ?? null,
        base: wanted.base ?? repository.defaultBranch,
      },
      head: { repository: repositoryNamed(wanted.headRepo ?? wanted.repo), ref: wanted.head },
      draft: wanted.draft ?? false,
    })
  }

  /** Presses "Merge": never throws for what GitHub would answer, so that a blocked merge can be told. */
  function merge(wanted: {
    repo: string
    pull: number
    as: string
    method?: 'merge' | 'squash'
    sha?: string
  }): MergeOutcome {
    const repository = repositoryNamed(wanted.repo)
    const pull = pullNumbered(repository, wanted.pull)
    const how = { method: wanted.method ?? 'merge', sha: wanted.sha, title: undefined, message: undefined }
    try {
      const user = writer(wanted.as, repository)
      const sha = mergePull(world, repository, pull, { kind: 'user', user }, how)
      return { status: 200, message: 'Pull Request successfully merged', sha }
    } catch (error) {
      if (error instanceof HttpError) return { status: error.status, message: error.message, sha: undefined }
      throw error
    }
  }

  function closePullRequest(wanted: { repo: string; pull: number; as: string }): void {
    const repository = repositoryNamed(wanted.repo)
    closePull(world, repository, pullNumbered(repository, wanted.pull), userNamed(wanted.as))
  }

  /** Ends the draft; GitHub offers this only in GraphQL and to people. */
  function readyForReview(wanted: { repo: string; pull: number; as: string }): void {
    const repository = repositoryNamed(wanted.repo)
    const pull = pullNumbered(repository, wanted.pull)
    pull.draft = false
    pull.issue.updatedAt = now()
    const payload = pullPayload(world, repository, 'ready_for_review', pull)
    world.emit(repository, userNamed(wanted.as), 'pull_request', payload)
  }

  function issue(wanted: { repo: string; title: string; body?: string; as: string }) {
    const repository = repositoryNamed(wanted.repo)
    const by = userNamed(wanted.as)
    const opened = openIssue(world, repository, by, undefined, wanted.title, wanted.body ?? null)
    world.emit(repository, by, 'issues', { action: 'opened', issue: issueJson(world, repository, opened) })
    return opened
  }

  function comment(wanted: { repo: string; issue: number; as: string; body: string }) {
    const repository = repositoryNamed(wanted.repo)
    if (!repository.issues.has(wanted.issue)) throw new Error(`${wanted.repo} has no issue ${wanted.issue}`)
    return addComment(world, repository, wanted.issue, userNamed(wanted.as), undefined, wanted.body)
  }

  /** Presses "Re-run" at a check run. */
  function rerun(wanted: { repo: string; run: CheckRun; as: string }): void {
    rerequest(world, repositoryNamed(wanted.repo), wanted.run, userNamed(wanted.as))
  }

  /** Presses a button that the check run offers. Throws when it has no such button. */
  function requestAction(wanted: { repo: string; run: CheckRun; identifier: string; as: string }): void {
    const { run, identifier } = wanted
    if (!run.actions.some(action => action.identifier === identifier))
      throw new Error(`${run.name} has no action ${identifier}`)
    const repository = repositoryNamed(wanted.repo)
    const payload = checkRunPayload(world, repository, 'requested_action', run, { requested_action: { identifier } })
    world.emit(repository, userNamed(wanted.as), 'check_run', payload)
  }

  return {
    ...{ push, pushRef, openPullRequest, merge, closePullRequest, readyForReview },
    ...{ issue, comment, rerun, requestAction },
  }
}
