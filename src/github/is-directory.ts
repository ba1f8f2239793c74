import { unlessMissing } from './github-error.ts'
import type { Octokit, RepositoryName } from './octokit.ts'

/** Whether the default branch of a repository has a directory at `path`; false for an empty repository. */
export async function isDirectory(octokit: Octokit, { owner, repo }: RepositoryName, path: string): Promise<boolean> {
  const answer = await unlessMissing(`look for ${path} in ${owner}/${repo}`, () =>
    octokit.rest.repos.getContent({ owner, repo, path }),
  )
  return Array.isArray(answer?.data)
}
