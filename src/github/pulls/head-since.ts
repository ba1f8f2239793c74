import { BailiwickError } from '../../errors.ts'
import { message } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/**
 * Since when a branch has the commit that it has, by GitHub's own clock; undefined where GitHub does not say, or says of another
 * commit. What a commit says of its time is its author's word, and it may have been on other branches long before.
 */
export async function headSince(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  branch: string,
  sha: string,
): Promise<string | undefined> {
  try {
    const found = await unlessMissing(message`read how a branch of ${repositoryPart({ owner, repo })} moved`, () =>
      octokit.rest.repos.listActivities({ owner, repo, ref: `refs/heads/${branch}`, direction: 'desc', per_page: 10 }),
    )
    const [last] = found?.data ?? []
    return last?.ref === `refs/heads/${branch}` && last.after === sha ? last.timestamp : undefined
  } catch (error) {
    // a fork that the App is not installed on
    if (error instanceof BailiwickError && error.code === 'not-permitted') return undefined
    throw error
  }
}
