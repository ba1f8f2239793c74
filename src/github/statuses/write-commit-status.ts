import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A commit status as GitHub takes it. */
interface CommitStatus {
  readonly context: string
  readonly state: 'success' | 'failure'
  readonly description: string
}

/** Beyond them a status is written again although it may stand there already. */
const MAX_PAGES = 10

/** The latest status of each context on a commit, by the context. */
export async function readCommitStatuses(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  sha: string,
): Promise<ReadonlyMap<string, Pick<CommitStatus, 'description'> & { readonly state: string }>> {
  const latest = new Map<string, { readonly state: string; readonly description: string }>()
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { data } = await github(message`read the commit statuses of ${repositoryPart({ owner, repo })}`, () =>
      octokit.rest.repos.listCommitStatusesForRef({ owner, repo, ref: sha, per_page: 100, page }),
    )
    for (const { context, state, description } of data)
      if (!latest.has(context)) latest.set(context, { state, description: description ?? '' })
    if (data.length < 100) break
  }
  return latest
}

/** Writes a status on a commit. Throws `not-permitted` without the permission statuses: write. */
export async function writeCommitStatus(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  sha: string,
  { context, state, description }: CommitStatus,
): Promise<void> {
  await github(message`write a commit status of ${repositoryPart({ owner, repo })}`, () =>
    octokit.rest.repos.createCommitStatus({ owner, repo, sha, context, state, description }),
  )
}
