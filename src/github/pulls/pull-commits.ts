import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Hashes of the commits of a pull request, the oldest first; GitHub lists at most 250. */
export async function pullCommits(octokit: Octokit, { owner, repo }: RepositoryName, pull: number): Promise<string[]> {
  const found = await github(message`list the commits of ${repositoryPart({ owner, repo }, pull)}`, () =>
    octokit.paginate(octokit.rest.pulls.listCommits, { owner, repo, pull_number: pull, per_page: 100 }),
  )
  return found.map(({ sha }) => sha)
}
