import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** An issue as GitHub has it now. */
export interface Issue {
  readonly number: number
  readonly body: string
  readonly open: boolean
  readonly pullRequest: boolean
  readonly author: { readonly login: string; readonly type: string }
  readonly viaApp: boolean
  /** ISO times, in whole seconds. */
  readonly createdAt: string
  readonly updatedAt: string
}

/** Reads an issue; undefined when it or its author is gone. */
export async function readIssue(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  number: number,
): Promise<Issue | undefined> {
  const found = await unlessMissing(message`read issue ${repositoryPart({ owner, repo }, number)}`, () =>
    octokit.rest.issues.get({ owner, repo, issue_number: number }),
  )
  if (!found?.data.user) return undefined
  const { data } = found
  return {
    number,
    body: data.body ?? '',
    open: data.state === 'open',
    pullRequest: data.pull_request != null,
    author: { login: found.data.user.login, type: found.data.user.type },
    viaApp: data.performed_via_github_app != null,
    createdAt: data.created_at,
    updatedAt: data.updated_at,
  }
}
