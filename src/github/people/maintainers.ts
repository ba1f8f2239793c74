import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** The people who maintain or administer a repository now, through whatever gives them the role. */
export async function listMaintainers(octokit: Octokit, { owner, repo }: RepositoryName): Promise<string[]> {
  const found = await github(message`list the collaborators of ${repositoryPart({ owner, repo })}`, () =>
    octokit.paginate(octokit.rest.repos.listCollaborators, { owner, repo, per_page: 100 }),
  )
  return found.flatMap(({ type, login, permissions }) =>
    type === 'User' && (permissions?.admin || permissions?.maintain) ? [login] : [],
  )
}
