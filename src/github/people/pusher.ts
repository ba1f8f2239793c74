import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/**
 * Login of whoever moved a branch to a commit, by GitHub's own record: authors and committers of commits are only text.
 * Undefined where GitHub does not say.
 */
export async function readPusher(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
  commit: string,
): Promise<string | undefined> {
  const { data } = await github(message`read who pushed to ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.repos.listActivities({ owner, repo, ref: `refs/heads/${branch}`, per_page: 30 }),
  )
  const push = data.find(one => one.after === commit && one.ref === `refs/heads/${branch}`)
  return push?.actor?.type === 'User' ? push.actor.login : undefined
}
