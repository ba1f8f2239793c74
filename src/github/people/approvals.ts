import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** Who has approved which commit of a pull request, and has not said otherwise since. */
interface Approval {
  readonly login: string
  readonly commit: string
  /** ISO time. */
  readonly at: string | undefined
}

/** The last word of each person who reviewed, where it is an approval; apps and comments do not count. */
export async function listApprovals(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  pull: number,
): Promise<Approval[]> {
  const found = await github(message`list the reviews of ${repositoryPart({ owner, repo }, pull)}`, () =>
    octokit.paginate(octokit.rest.pulls.listReviews, { owner, repo, pull_number: pull, per_page: 100 }),
  )
  const last = new Map<number, (typeof found)[number]>()
  // in the order of time; a comment takes no approval back: https://docs.github.com/en/rest/pulls/reviews
  for (const review of found) if (review.user && review.state !== 'COMMENTED') last.set(review.user.id, review)
  return [...last.values()].flatMap(({ user, state, commit_id: commit, submitted_at: at }) =>
    user?.type === 'User' && state === 'APPROVED' && commit ? [{ login: user.login, commit, at }] : [],
  )
}
