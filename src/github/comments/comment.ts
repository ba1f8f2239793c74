import { message } from '../../message/message.ts'
import { cutText } from '../client/cut-text.ts'
import { github, unlessMissing } from '../client/github-error.ts'
import { isOurs } from '../client/is-ours.ts'
import type { AppIdentity, Octokit, RepositoryName } from '../client/octokit.ts'
import { repositoryPart } from '../client/repository-part.ts'

/** 65,536 is GitHub's limit; some of its front ends count differently. */
const MAX_BODY = 60_000

interface StickyComment {
  /** Issue or pull request. */
  readonly number: number
  /** First line of the body, an HTML comment, by which it is found again. */
  readonly marker: string
  /** Whether what is said is true still; asked before anything is written. */
  readonly stands?: () => Promise<boolean>
}

interface UpsertedComment {
  /** Undefined where there is none: what was to be said is true no more. */
  readonly id: number | undefined
  readonly written: boolean
}

/**
 * Makes the one comment of ours with this marker say `body`. Someone else's comment with the marker is left alone and
 * never taken for ours; a second one of ours (a repeated request) is removed; nothing is written when nothing changed.
 */
export async function upsertComment(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  sticky: StickyComment & { readonly body: string },
): Promise<UpsertedComment> {
  const marked = startsWith(sticky.body, sticky.marker) ? sticky.body : `${sticky.marker}\n${sticky.body}`
  const body = cutText(marked, MAX_BODY, '\n\n*Truncated.*')
  const [present, ...duplicates] = await ourComments(octokit, app, { owner, repo }, sticky)
  const what = message`write a comment on ${repositoryPart({ owner, repo }, sticky.number)}`
  const isCurrent = present?.body === body && duplicates.length === 0
  if (!isCurrent && !(await (sticky.stands?.() ?? true))) return { id: present?.id, written: false }
  await removeAll(octokit, { owner, repo }, duplicates)
  if (!present) {
    const { data } = await github(what, () =>
      octokit.rest.issues.createComment({ owner, repo, issue_number: sticky.number, body }),
    )
    return { id: data.id, written: true }
  }
  if (present.body === body) return { id: present.id, written: false }
  await github(what, () => octokit.rest.issues.updateComment({ owner, repo, comment_id: present.id, body }))
  return { id: present.id, written: true }
}

/** Removes every comment of ours with this marker; says whether one was removed. */
export async function removeComment(
  octokit: Octokit,
  app: AppIdentity,
  repository: RepositoryName,
  sticky: StickyComment,
): Promise<boolean> {
  const present = await ourComments(octokit, app, repository, sticky)
  if (present.length > 0 && !(await (sticky.stands?.() ?? true))) return false
  await removeAll(octokit, repository, present)
  return present.length > 0
}

interface OurComment {
  readonly id: number
  readonly body: string
}

async function ourComments(
  octokit: Octokit,
  app: AppIdentity,
  { owner, repo }: RepositoryName,
  { number, marker }: StickyComment,
): Promise<OurComment[]> {
  const all = await github(message`read the comments of ${repositoryPart({ owner, repo }, number)}`, () =>
    octokit.paginate(octokit.rest.issues.listComments, { owner, repo, issue_number: number, per_page: 100 }),
  )
  return all
    .map(one => ({ id: one.id, body: (one.body ?? '').replaceAll('\r\n', '\n'), ours: isOurs(app, one) }))
    .filter(one => one.ours && startsWith(one.body, marker))
    .sort((a, b) => a.id - b.id)
}

function startsWith(body: string, marker: string): boolean {
  return body === marker || body.startsWith(`${marker}\n`)
}

async function removeAll(octokit: Octokit, { owner, repo }: RepositoryName, comments: readonly OurComment[]) {
  for (const { id } of comments) {
    await unlessMissing(message`remove a comment of ${repositoryPart({ owner, repo })}`, () =>
      octokit.rest.issues.deleteComment({ owner, repo, comment_id: id }),
    )
  }
}
