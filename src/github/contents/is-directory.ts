import { message, part } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Whether a commit of a repository, or else its default branch, has a directory at `path`; false for an empty repository. */
export async function isDirectory(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  path: string,
  commit?: string,
): Promise<boolean> {
  const answer = await unlessMissing(
    message`look for ${part('path', path)} in ${repositoryPart({ owner, repo })}`,
    () => octokit.rest.repos.getContent({ owner, repo, path, ...(commit === undefined ? {} : { ref: commit }) }),
  )
  return Array.isArray(answer?.data)
}
