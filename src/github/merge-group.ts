import { github } from './github-error.ts'
import type { Octokit, RepositoryName } from './octokit.ts'

/**
 * Number of the pull request that a merge queue's commit adds to what stands before it, by the branch that GitHub makes for
 * it: `gh-readonly-queue/<branch>/pr-<number>-<sha>`. Undefined where the group is gone. Nobody but GitHub writes there.
 */
export async function pullOfMergeGroup(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
  sha: string,
): Promise<number | undefined> {
  const prefix = `gh-readonly-queue/${branch}/`
  const refs = await github(`read the merge queue of ${owner}/${repo}`, () =>
    octokit.paginate(octokit.rest.git.listMatchingRefs, { owner, repo, ref: `heads/${prefix}` }),
  )
  const found = refs.find(({ ref, object }) => object.sha === sha && ref.startsWith(`refs/heads/${prefix}`))
  const number = /^pr-(\d{1,9})-[\da-f]{40,64}$/.exec(found?.ref.slice(`refs/heads/${prefix}`.length) ?? '')?.[1]
  return number === undefined ? undefined : Number(number)
}
