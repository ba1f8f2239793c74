import { unlessMissing } from './client/github-error.ts'
import { cutText, type GitHubRepository, isOurs, type OurRepository } from './client/octokit.ts'

/** 65,536 is GitHub's limit; some of its front ends count differently. */
const MAX_BODY = 60_000

interface StickyComment {
  /** Issue or pull request. */
  readonly number: number
  /** First line of the body, an HTML comment, by which it is found again. */
  readonly marker: string
  /** Whether the comment is still true; asked before anything is written. */
  readonly stands?: () => Promise<boolean>
}

interface UpsertedComment {
  /** Undefined where there is none: the comment is not true any more. */
  readonly id: number | undefined
  readonly written: boolean
}

/**
 * Gives our one comment with this marker the text `body`. Someone else's comment with the marker is left alone and
 * never taken for ours; a second one of ours (a repeated request) is removed; nothing is written when nothing changed.
 * `known`: the one that was written last, with another text; comments are listed only where it is gone.
 */
export async function upsertComment(
  { octokit, app, owner, repo }: OurRepository,
  sticky: StickyComment & { readonly body: string; readonly known?: number | undefined },
): Promise<UpsertedComment> {
  const marked = startsWith(sticky.body, sticky.marker) ? sticky.body : `${sticky.marker}\n${sticky.body}`
  const body = cutText(marked, MAX_BODY, '\n\n*Truncated.*')
  if (sticky.known !== undefined) {
    if (!(await (sticky.stands?.() ?? true))) return { id: sticky.known, written: false }
    const update = octokit.rest.issues.updateComment({ owner, repo, comment_id: sticky.known, body })
    if (await unlessMissing(update)) return { id: sticky.known, written: true }
  }
  const [present, ...duplicates] = await ourComments({ octokit, app, owner, repo }, sticky)
  const isCurrent = present?.body === body && duplicates.length === 0
  if (!isCurrent && !(await (sticky.stands?.() ?? true))) return { id: present?.id, written: false }
  await removeAll({ octokit, owner, repo }, duplicates)
  if (!present) {
    const { data } = await octokit.rest.issues.createComment({ owner, repo, issue_number: sticky.number, body })
    return { id: data.id, written: true }
  }
  if (present.body === body) return { id: present.id, written: false }
  await octokit.rest.issues.updateComment({ owner, repo, comment_id: present.id, body })
  return { id: present.id, written: true }
}

/** Removes every comment of ours with this marker; returns whether one was removed. */
export async function removeComment(repository: OurRepository, sticky: StickyComment): Promise<boolean> {
  const present = await ourComments(repository, sticky)
  if (present.length > 0 && !(await (sticky.stands?.() ?? true))) return false
  await removeAll(repository, present)
  return present.length > 0
}

interface OurComment {
  readonly id: number
  readonly body: string
}

async function ourComments(
  { octokit, app, owner, repo }: OurRepository,
  { number, marker }: StickyComment,
): Promise<OurComment[]> {
  const all = await octokit.paginate(octokit.rest.issues.listComments, {
    owner,
    repo,
    issue_number: number,
    per_page: 100,
  })
  return all
    .map(one => ({ id: one.id, body: (one.body ?? '').replaceAll('\r\n', '\n'), ours: isOurs(app, one) }))
    .filter(one => one.ours && startsWith(one.body, marker))
    .sort((a, b) => a.id - b.id)
}

function startsWith(body: string, marker: string): boolean {
  return body === marker || body.startsWith(`${marker}\n`)
}

async function removeAll({ octokit, owner, repo }: GitHubRepository, comments: readonly OurComment[]) {
  for (const { id } of comments) {
    await unlessMissing(octokit.rest.issues.deleteComment({ owner, repo, comment_id: id }))
  }
}

interface Reply {
  /** Issue or pull request to write on. */
  readonly issue: number
  /** The comment that is answered: one answer each, however often the job runs. */
  readonly about: number
  readonly body: string
}

/** Answers a comment once. */
export async function writeReply(repository: OurRepository, { issue, about, body }: Reply): Promise<void> {
  const marker = `<!-- bailiwick:reply:${about} -->`
  await upsertComment(repository, { number: issue, marker, body })
}

/** A comment and where it stands, as GitHub has them now. */
export interface IssueComment {
  readonly id: number
  readonly body: string
  readonly author: { readonly login: string; readonly type: string }
  /** Written by a person through someone's App, or by an App: it was not typed on GitHub. */
  readonly viaApp: boolean
  /** ISO time, in whole seconds. */
  readonly createdAt: string
  /** Someone reacted to it in a way in which we answer. */
  readonly reacted: boolean
  /** Changed after it was written: what was read then may not be there now. */
  readonly edited: boolean
  readonly issue: {
    readonly number: number
    readonly open: boolean
    readonly pullRequest: boolean
    /** Login of who opened it; undefined when the account is gone. */
    readonly author: string | undefined
  }
}

/** Reads a comment again by its id; undefined when it, its author or its issue is gone. */
export async function readIssueComment(
  { octokit, owner, repo }: GitHubRepository,
  comment: number,
): Promise<IssueComment | undefined> {
  const found = await unlessMissing(octokit.rest.issues.getComment({ owner, repo, comment_id: comment }))
  const { body, user, issue_url, created_at = '', updated_at, reactions } = found?.data ?? {}
  const number = Number(/\/(\d+)$/.exec(issue_url ?? '')?.[1] ?? Number.NaN)
  if (!user || !Number.isSafeInteger(number)) return undefined
  const issue = await unlessMissing(octokit.rest.issues.get({ owner, repo, issue_number: number }))
  if (!issue) return undefined
  return {
    id: comment,
    body: body ?? '',
    author: { login: user.login, type: user.type },
    viaApp: found?.data.performed_via_github_app != null,
    createdAt: created_at,
    // unknown without the summary
    reacted: !reactions || reactions['+1'] + reactions['-1'] + reactions.confused + reactions.rocket > 0,
    edited: created_at !== updated_at,
    issue: {
      number,
      open: issue.data.state === 'open',
      pullRequest: issue.data.pull_request != null,
      author: issue.data.user?.login,
    },
  }
}

interface ListedComment {
  readonly id: number
  readonly author: { readonly login: string; readonly type: string }
  readonly body: string
  /** ISO time, in whole seconds. */
  readonly createdAt: string
}

/** Comments of an issue or pull request that were written or changed since a time, oldest first. */
export async function listCommentsSince(
  { octokit, owner, repo }: GitHubRepository,
  issue: number,
  since: string,
): Promise<readonly ListedComment[]> {
  const found = await octokit.paginate(octokit.rest.issues.listComments, {
    owner,
    repo,
    issue_number: issue,
    since,
    per_page: 100,
  })
  return found.flatMap(({ id, user, body, created_at }) =>
    user ? [{ id, author: { login: user.login, type: user.type }, body: body ?? '', createdAt: created_at }] : [],
  )
}

type Reaction = '+1' | '-1' | 'confused' | 'eyes' | 'rocket'

/** Reacts to a comment of an issue or pull request; GitHub keeps one reaction of a kind per author, so twice is once. */
export async function react(
  { octokit, owner, repo }: GitHubRepository,
  comment: number,
  content: Reaction,
): Promise<void> {
  await octokit.rest.reactions.createForIssueComment({ owner, repo, comment_id: comment, content })
}

/** Which reactions our App has put on a comment. */
export async function ourReactions(
  { octokit, app, owner, repo }: OurRepository,
  comment: number,
): Promise<readonly string[]> {
  const found = await octokit.paginate(octokit.rest.reactions.listForIssueComment, {
    owner,
    repo,
    comment_id: comment,
    per_page: 100,
  })
  return found.filter(one => isOurs(app, { user: one.user })).map(one => one.content)
}

/** A comment of ours on lines of a pull request. */
interface ReviewComment {
  readonly body: string
  /** The lines that it was on have changed since. */
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

/** Our own comments on lines of a pull request; those of other apps and people do not count. */
export async function listReviewComments(
  { octokit, app, owner, repo }: OurRepository,
  pull: number,
): Promise<ReviewComment[]> {
  const found = await octokit.paginate(octokit.rest.pulls.listReviewComments, {
    owner,
    repo,
    pull_number: pull,
    per_page: 100,
  })
  return found
    .filter(one => isOurs(app, one))
    .map(({ body, line }) => ({ body: body.replaceAll('\r\n', '\n'), outdated: line === null || line === undefined }))
}

/** Files of a pull request with the diff that GitHub shows; undefined where it shows none (too large, not text). */
export async function listPatches(
  { octokit, owner, repo }: GitHubRepository,
  pull: number,
): Promise<ReadonlyMap<string, string | undefined>> {
  const found = await octokit.paginate(octokit.rest.pulls.listFiles, { owner, repo, pull_number: pull, per_page: 100 })
  return new Map(found.map(({ filename, patch }) => [filename, patch]))
}

/** Writes one review that neither approves nor blocks, on exactly this commit. */
export async function writeReview(
  { octokit, owner, repo }: GitHubRepository,
  pull: number,
  review: { readonly commit: string; readonly body: string; readonly comments: readonly NewReviewComment[] },
): Promise<void> {
  await octokit.rest.pulls.createReview({
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
  })
}
