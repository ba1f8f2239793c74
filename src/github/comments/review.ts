import { message } from '../../message/message.ts'
import { github } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** A comment of ours on lines of a pull request. */
interface ReviewComment {
  readonly body: string
  /** The lines that it stood on have changed since. */
  readonly outdated: boolean
}

/** A comment on lines `first` to `last` of a file as the head has it. */
interface NewReviewComment {
  readonly path: string
  readonly first: number
  readonly last: number
  /** Markdown. */
  readonly body: string
}

/** Our own comments on lines of a pull request, those of other apps and people are nobody's word for us. */
export async function listReviewComments(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  pull: number,
): Promise<ReviewComment[]> {
  const found = await github(message`list the review comments of ${repositoryPart({ owner, repo }, pull)}`, () =>
    octokit.paginate(octokit.rest.pulls.listReviewComments, { owner, repo, pull_number: pull, per_page: 100 }),
  )
  return found
    .filter(one => isOurs(app, one))
    .map(({ body, line }) => ({ body: body.replaceAll('\r\n', '\n'), outdated: line === null || line === undefined }))
}

/** Files of a pull request with the diff that GitHub shows; undefined where it shows none (too large, not text). */
export async function listPatches(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  pull: number,
): Promise<ReadonlyMap<string, string | undefined>> {
  const found = await github(message`list the files of ${repositoryPart({ owner, repo }, pull)}`, () =>
    octokit.paginate(octokit.rest.pulls.listFiles, { owner, repo, pull_number: pull, per_page: 100 }),
  )
  return new Map(found.map(({ filename, patch }) => [filename, patch]))
}

/** Writes one review that neither approves nor blocks, on exactly this commit. */
export async function writeReview(
  octokit: Octokit,
  { owner, repo }: RepositoryName,
  pull: number,
  review: { readonly commit: string; readonly body: string; readonly comments: readonly NewReviewComment[] },
): Promise<void> {
  await github(message`review ${repositoryPart({ owner, repo }, pull)}`, () =>
    octokit.rest.pulls.createReview({
      owner,
      repo,
      pull_number: pull,
      commit_id: review.commit,
      event: 'COMMENT',
      body: review.body,
      comments: review.comments.map(({ path, first, last, body }) => ({
        path,
        body,
        line: last,
        side: 'RIGHT',
        ...(first < last ? { start_line: first, start_side: 'RIGHT' } : {}),
      })),
    }),
  )
}
