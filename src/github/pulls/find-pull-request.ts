import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Number of the pull request of ours that is open from one of our branches; undefined where there is none. */
export async function findPullRequest(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  branch: string,
): Promise<{ readonly number: number; readonly body: string } | undefined> {
  const { data } = await github(message`list the open pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.pulls.list({ owner, repo, state: 'open', head: `${owner}:${branch}`, per_page: 100 }),
  )
  const ours = data.find(one => one.head.ref === branch && one.head.repo?.id === one.base.repo.id && isOurs(app, one))
  return ours && { number: ours.number, body: ours.body ?? '' }
}
