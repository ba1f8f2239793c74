import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

interface ListedComment {
  readonly id: number
  readonly author: { readonly login: string; readonly type: string }
  readonly body: string
  /** ISO time, in whole seconds. */
  readonly createdAt: string
}

/** Comments of an issue or pull request that were written or changed since a time, oldest first. */
export async function listCommentsSince(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  issue: number,
  since: string,
): Promise<readonly ListedComment[]> {
  const found = await github(message`read the comments of ${repositoryPart({ owner, repo }, issue)}`, () =>
    octokit.paginate(octokit.rest.issues.listComments, { owner, repo, issue_number: issue, since, per_page: 100 }),
  )
  return found.flatMap(({ id, user, body, created_at }) =>
    user ? [{ id, author: { login: user.login, type: user.type }, body: body ?? '', createdAt: created_at }] : [],
  )
}
