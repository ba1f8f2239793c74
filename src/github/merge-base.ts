import { unlessMissing } from './github-error.ts'
import type { Octokit, RepositoryName } from './octokit.ts'

/** Where the histories of two commits part. */
export interface MergeBase {
  readonly commit: string
  readonly tree: string
  /** Commits that the head has and the base has not; none: there is nothing to merge. */
  readonly ahead: number
}

/** The best common ancestor of two commits; undefined where they have none: GitHub does not merge them. */
export async function readMergeBase(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  base: string,
  head: string,
): Promise<MergeBase | undefined> {
  const found = await unlessMissing(`compare two commits of ${owner}/${repo}`, () =>
    octokit.rest.repos.compareCommitsWithBasehead({ owner, repo, basehead: `${base}...${head}`, per_page: 1 }),
  )
  if (!found) return undefined
  const { merge_base_commit: common, ahead_by: ahead } = found.data
  return { commit: common.sha, tree: common.commit.tree.sha, ahead }
}
