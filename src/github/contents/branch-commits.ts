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
  return found?.data.map(signedCommit)
}

/** The head of a branch as a trail commit. */
export interface SignedHead extends TrailCommit {
  readonly commit: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly message: string
}

/** The head of a branch with its author and signature according to GitHub; undefined if the branch does not exist. */
export async function readSignedHead(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
): Promise<SignedHead | undefined> {
  const what = message`read branch ${part('branch', branch, JSON.stringify(branch))} of ${repositoryPart({ owner, repo })}`
  const found = await unlessMissing(what, () => octokit.rest.repos.getBranch({ owner, repo, branch }))
  // GitHub redirects the old name of a renamed branch
  if (!found || found.data.name !== branch) return undefined
  const { commit } = found.data
  const parents = commit.parents.map(({ sha }) => sha)
  const { message: words, tree } = commit.commit
  return { ...signedCommit(commit), commit: commit.sha, tree: tree.sha, parents, message: words }
}

type ShownCommit = Awaited<ReturnType<Octokit['rest']['repos']['getBranch']>>['data']['commit']

function signedCommit({ sha, author, committer, commit }: ShownCommit): TrailCommit {
  return {
    sha,
    author: author && 'login' in author ? author.login : undefined,
    committer: committer && 'login' in committer ? committer.login : undefined,
    verified: commit.verification?.verified === true,
  }
}
