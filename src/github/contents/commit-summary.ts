import { message, part } from '../../message/message.ts'
import { unlessMissing } from '../client/github-error.ts'
import type { Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'
import { assertCommitId } from './read-commit.ts'

/** Longer than GitHub shows of a subject, and than any login. */
const MAX_SUBJECT = 300
const MAX_AUTHOR = 100

/** What people recognize a commit by. Its author chooses both. */
interface CommitSummary {
  /** First line of its message. */
  readonly subject: string
  /** The login that GitHub ascribes it to, else the name in the commit; '' for none. */
  readonly author: string
}

/** Reads the subject and author of a commit; undefined if GitHub does not have it. Unlike GitHub's single commit, a list has no diff. */
export async function readCommitSummary(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  sha: string,
): Promise<CommitSummary | undefined> {
  assertCommitId(sha)
  const what = message`read commit ${part('value', sha.slice(0, 10))} of ${repositoryPart({ owner, repo })}`
  const found = await unlessMissing(what, () => octokit.rest.repos.listCommits({ owner, repo, sha, per_page: 1 }))
  const first = found?.data[0]
  if (first?.sha !== sha) return undefined
  const { author, commit } = first
  const login = author && 'login' in author ? author.login : undefined
  return {
    subject: (commit.message.split(/[\r\n]/, 1)[0] ?? '').slice(0, MAX_SUBJECT),
    author: (login ?? commit.author?.name ?? '').slice(0, MAX_AUTHOR),
  }
}
