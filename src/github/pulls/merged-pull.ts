import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A pull request by which a commit came to its branch. */
interface MergedPull {
  readonly number: number
  /** The last commit of its own branch. */
  readonly head: string
  /** The name of its own branch. */
  readonly branch: string
}

/** The pull request whose merge made this commit the tip of a branch, with any way of merging; undefined for a push. */
export async function mergedPull(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  sha: string,
): Promise<MergedPull | undefined> {
  const found = await unlessMissing(
    message`find the pull request of a commit of ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.repos.listPullRequestsAssociatedWithCommit({ owner, repo, commit_sha: sha, per_page: 100 }),
  )
  const merged = found?.data.find(one => one.merged_at !== null && one.merge_commit_sha === sha)
  return merged && { number: merged.number, head: merged.head.sha, branch: merged.head.ref }
}
