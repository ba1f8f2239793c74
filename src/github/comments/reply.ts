import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { upsertComment } from './comment.ts'

interface Reply {
  /** Issue or pull request to write on. */
  readonly issue: number
  /** The comment that is answered: one answer each, however often the job runs. */
  readonly about: number
  readonly body: string
}

/** Answers a comment once. */
export async function writeReply(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  { issue, about, body }: Reply,
): Promise<void> {
  const marker = `<!-- bailiwick:reply:${about} -->`
  await upsertComment(octokit, app, repository, { number: issue, marker, body })
}
