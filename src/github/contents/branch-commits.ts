import { message, part } from '../../message/message.ts'
import type { TrailCommit } from '../../trail/foreign-commits.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** The last hundred commits of a branch, with who GitHub says wrote and signed them; undefined where there is no branch. */
export async function listBranchCommits(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
): Promise<readonly TrailCommit[] | undefined> {
  const what = message`list the commits of ${part('branch', branch, JSON.stringify(branch))} of ${repositoryPart({ owner, repo })}`
  const found = await unlessMissing(what, () =>
    octokit.rest.repos.listCommits({ owner, repo, sha: `refs/heads/${branch}`, per_page: 100 }),
  )
  return found?.data.map(({ sha, author, committer, commit }) => ({
    sha,
    author: author && 'login' in author ? author.login : undefined,
    committer: committer && 'login' in committer ? committer.login : undefined,
    verified: commit.verification?.verified === true,
  }))
}
