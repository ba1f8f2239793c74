import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { readBranch } from './branch.ts'

/** Whether there is a branch of that name from which no pull request is open: one that was merged or closed left it. */
export async function isLeftBranch(octokit: Octokit, repository: RepositoryName, branch: string): Promise<boolean> {
  if (!(await readBranch(octokit, repository, branch))) return false
  const { owner, repo } = repository
  const { data } = await github(message`list the open pull requests of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.pulls.list({ owner, repo, state: 'open', head: `${owner}:${branch}`, per_page: 100 }),
  )
  return !data.some(one => one.head.ref === branch)
}
