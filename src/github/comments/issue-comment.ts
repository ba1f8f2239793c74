import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A comment and where it stands, as GitHub has them now. */
export interface IssueComment {
  readonly id: number
  readonly body: string
  readonly author: { readonly login: string; readonly type: string }
  /** Written by a person through someone's App, or by an App: nobody typed it here. */
  readonly viaApp: boolean
  /** ISO time, in whole seconds. */
  readonly createdAt: string
  /** Someone reacted to it in a way in which we answer. */
  readonly reacted: boolean
  /** Changed after it was written: what was read then may not be what stands there now. */
  readonly edited: boolean
  readonly issue: {
    readonly number: number
    readonly open: boolean
    readonly pullRequest: boolean
    /** Login of who opened it; undefined when the account is gone. */
    readonly author: string | undefined
  }
}

/** Reads a comment again by its id; undefined when it, its author or its issue is gone. */
export async function readIssueComment(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  comment: number,
): Promise<IssueComment | undefined> {
  const found = await unlessMissing(message`read comment ${comment} of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.issues.getComment({ owner, repo, comment_id: comment }),
  )
  const { body, user, issue_url, created_at = '', updated_at, reactions } = found?.data ?? {}
  const number = Number(/\/(\d+)$/.exec(issue_url ?? '')?.[1] ?? Number.NaN)
  if (!user || !Number.isSafeInteger(number)) return undefined
  const issue = await unlessMissing(message`read issue ${repositoryPart({ owner, repo }, number)}`, () =>
    octokit.rest.issues.get({ owner, repo, issue_number: number }),
  )
  if (!issue) return undefined
  return {
    id: comment,
    body: body ?? '',
    author: { login: user.login, type: user.type },
    viaApp: found?.data.performed_via_github_app != null,
    createdAt: created_at,
    // unknown without the summary
    reacted: !reactions || reactions['+1'] + reactions['-1'] + reactions.confused + reactions.rocket > 0,
    edited: created_at !== updated_at,
    issue: {
      number,
      open: issue.data.state === 'open',
      pullRequest: issue.data.pull_request != null,
      author: issue.data.user?.login,
    },
  }
}
