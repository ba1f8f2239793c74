import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { type OwnPull, ownPull } from './read-own-pull.ts'

/** Pull requests of ours from branches that begin with `prefix`, of the hundred that changed last; the latest first. */
export async function listOwnPulls(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  prefix: string,
): Promise<readonly OwnPull[]> {
  const { data } = await github(message`list the pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.pulls.list({ owner, repo, state: 'all', sort: 'updated', direction: 'desc', per_page: 100 }),
  )
  return data
    .filter(one => one.head.ref.startsWith(prefix) && one.head.repo?.id === one.base.repo.id && isOurs(app, one))
    .map(one => ownPull({ ...one, merged: one.merged_at !== null }))
}
